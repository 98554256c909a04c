"""E-mails of cases: the student's address, replies of the office to it, and what the student answers by mail."""

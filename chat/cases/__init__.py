"""Cases: which office gets a question, when it replies, and what student and office say to each other."""

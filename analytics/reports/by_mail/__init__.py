"""Reports that come by themselves: when one is due, its figures as a PDF, and the mail."""

"""The answer in staff's own words, and what the pages say below it."""

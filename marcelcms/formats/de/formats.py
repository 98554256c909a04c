"""Times in German: Django's write the month as a word, which takes two lines in a list; dates alone stay Django's."""

DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "d.m.Y, H:i"

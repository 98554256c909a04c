"""Tables and forms of a PDF: found by their rules or their alignment, read cell by cell, said as sentences; pure."""

"""The answer: generated, quoted, canned or refused, with its citations."""

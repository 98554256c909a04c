"""The differences between the facts of a sentence and those of the unit that it is compared with."""

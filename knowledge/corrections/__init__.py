"""Texts that staff corrected: kept beside what was read, and joined with what the source says later."""

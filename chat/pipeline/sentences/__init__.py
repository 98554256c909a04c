"""The pages' own words as an answer: what can be quoted, which of it answers best, and how it is put together."""

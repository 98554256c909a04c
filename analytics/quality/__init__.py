"""Quality over time, from a nightly random sample of real answers that staff judge."""

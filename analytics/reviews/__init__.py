"""The review queue: answers that staff judge."""

"""The built-in entailment model."""

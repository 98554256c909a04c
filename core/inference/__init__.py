"""The only place that runs or calls a model."""

"""Inference: the only place that runs or calls a model."""

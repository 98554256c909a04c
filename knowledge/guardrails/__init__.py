"""Guardrails against injections in questions and pages."""

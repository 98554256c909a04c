"""The dashboard: figures of questions and answers."""

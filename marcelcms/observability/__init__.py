"""Logs, metrics, and the id that a request's log entries share."""

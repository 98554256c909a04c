"""What operators see of this process: logs, metrics, and the id that ties a request's traces together."""

"""The language model: one client, with its queue, retries and circuit breaker."""

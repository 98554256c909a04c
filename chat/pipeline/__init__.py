"""From a question to the events of its answer."""

"""Documents cut into passages, sentences and propositions."""

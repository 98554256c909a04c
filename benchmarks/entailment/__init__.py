"""Learns the weights of the built-in entailment model (`core/inference/entailment`) from the judged sentences."""

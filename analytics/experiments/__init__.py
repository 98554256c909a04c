"""Experiments with two arms of an assistant, decided by rules that are fixed before."""

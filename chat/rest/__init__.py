"""The staff API of conversations."""

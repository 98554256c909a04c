"""Questions that a language model proposes, and what it says answers them."""

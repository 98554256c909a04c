"""Two statements compared: the matter that they are about, and what they say of it differently."""

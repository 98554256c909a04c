"""Topics of everything that students ask, whatever became of it."""

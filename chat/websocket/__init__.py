"""The socket that the widget speaks to."""

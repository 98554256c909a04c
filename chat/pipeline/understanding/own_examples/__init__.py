"""Examples of kinds of messages that staff add to an assistant, and what they change in what is recognised."""

"""A question as staff try it: how it was understood, every ranking on the way, what the model was told, the answer that
a student would get, and why a document is not among its sources. Stores nothing."""

"""What a judge raises, apart from the library that calls one: whoever starts runs need not load it."""


class JudgeUnavailable(Exception):
    """The endpoint does not judge; the message says why and what to do."""

"""Errors of a judge, in a module of their own, so that those who catch them load no library."""


class JudgeUnavailable(Exception):
    """The judging endpoint failed; the message says why and what to do."""

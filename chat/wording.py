"""Words that carry meaning; pure."""

import re

WORD = re.compile(r"\w+")


def terms(text: str) -> set[str]:
    """Words that carry meaning, roughly stemmed: long enough, cut to six letters; figures stay whole."""
    return {word[:6] for word in WORD.findall(text.lower()) if len(word) > 3 or word.isdecimal()}

"""Strings that break programs: some of our own, and where the data sets are, those of a public collection."""

import json

from tests.chat.data_sets import FOLDER

NAUGHTY = FOLDER / "security" / "naughty-strings.json"
#: What PostgreSQL or UTF-8 cannot hold, and what only looks as if it were nothing.
OWN = [
    "before\x00after",
    "\x00",
    "half \ud83d a pair",
    "\udc00",
    "e\u0301 and \u00e9",
    "\u202eright to left\u202c",
    "\u200b\u2060",
    "tab\tand\r\nnew\nlines",
    "\x1b[31mred\x1b[0m",
    "{{7*7}} {% if x %} ${7*7} %s %(x)s {0.__class__}",
    "'; DROP TABLE chat_message; --",
    "<b>bold</b> &amp; &lt;",
    "C:\\temp\\new \\u0041 \\0",
    "💇🏽‍♀️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "ÅÄÖ ß ẞ ﬁ ① ٣ 五",
]


def strings() -> list[str]:
    """Each once."""
    return list(dict.fromkeys([*OWN, *(json.loads(NAUGHTY.read_text("utf-8")) if NAUGHTY.is_file() else [])]))

"""The words for a browser, from what it says of itself."""

import re

#: The first that fits; Edge and Opera call themselves Chrome too, and Chrome calls itself Safari.
BROWSERS = (
    ("Edge", r"\bEdgA?(?:iOS)?/"),
    ("Opera", r"\bOPR/"),
    ("Firefox", r"\b(?:Firefox|FxiOS)/"),
    ("Chrome", r"\b(?:Chrome|CriOS|Chromium)/"),
    ("Safari", r"\bSafari/"),
)
SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
#: Characters of a header that are read.
READ = 500


def describe_device(user_agent: str) -> str:
    """Return such as “Firefox, Windows”; empty for what is neither known."""
    said = user_agent[:READ]
    found = (next((name for name, sign in kinds if re.search(sign, said)), "") for kinds in (BROWSERS, SYSTEMS))
    return ", ".join(filter(None, found))

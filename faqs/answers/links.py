"""Web addresses in an answer that staff wrote without Markdown's signs of a link."""

import re

#: Not within a link, in angle brackets or in code.
BARE = re.compile(r"(?<![\w\[<`/])(?<!\]\()https?://[^\s<>()\[\]`\"|]*[^\s<>()\[\]`\"|.,;:!?*_'”“]")


def link_addresses(markdown: str) -> str:
    """Write bare addresses as links that are named as they are."""
    return BARE.sub(r"[\g<0>](\g<0>)", markdown)

"""Links that a text names by number, `[words][12]`, as texts read from HTML have them; pure.

Their addresses stand beside the text, in the document's metadata: a passage with all of them would be mostly addresses.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

#: "[1][2]" are numbers of sources.
NUMBERED_LINK = re.compile(r"(?<!\\)\[(?P<words>(?!\d{1,3}\])(?:[^\[\]\\\n]|\\.){1,300})\]\[(?P<number>\d{1,4})\]")


def list_addresses(references: Any) -> list[str]:
    """List the addresses of a document's `metadata["references"]`, in the order of their numbers from 1."""
    found = []
    for link in references if isinstance(references, list) else ():
        if isinstance(link, list) and len(link) == 2:  # as crawls wrote them once
            found.append(str(link[1]))
        else:
            found.append(str(link.get("url", "")) if isinstance(link, dict) else "")
    return found


def without_numbers(text: str) -> str:
    """Leave the words of numbered links, which are Markdown."""
    return NUMBERED_LINK.sub(lambda link: link["words"], text)


def find_numbered(text: str, addresses: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (words, address) of each numbered link whose address is known."""
    for link in NUMBERED_LINK.finditer(text):
        number = int(link["number"])
        if 0 < number <= len(addresses) and addresses[number - 1]:
            yield link["words"], addresses[number - 1]


def renumber(text: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Write the links with their numbers in another list of addresses; one that it lacks gets its address instead."""
    if list(old) == list(new):
        return text
    numbers: dict[str, int] = {}
    for number, address in enumerate(new, start=1):
        numbers.setdefault(address, number)

    def write(link: re.Match[str]) -> str:
        number = int(link["number"])
        address = old[number - 1] if 0 < number <= len(old) else ""
        if not address or new[number - 1 : number] == [address]:
            return link[0]
        if address in numbers:
            return f"[{link['words']}][{numbers[address]}]"
        return f"[{link['words']}](<{address}>)"

    return NUMBERED_LINK.sub(write, text)

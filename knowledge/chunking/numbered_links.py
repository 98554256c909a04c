"""Links that a text names by number, `[words][12]`, as texts read from HTML have them; pure.

Their addresses stand beside the text, in the document's metadata: a passage with all of them would be mostly addresses.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

#: "[1][2]" are numbers of sources. Words that are a number themselves are followed by a blank: "Room [101 ][5]".
NUMBERED_LINK = re.compile(
    r"(?<!\\)\[(?P<words>(?!\d{1,3}\])(?:[^\[\]\\\n]|\\.){1,300}?) ?\]\[(?P<number>\d{1,4})\]",
)
#: Beside a list of addresses "[101][5]" is a link too, as crawls wrote it once: they escape brackets that a page has.
WITH_ADDRESSES = re.compile(NUMBERED_LINK.pattern.replace(r"(?!\d{1,3}\])", ""))
NUMBER = re.compile(r"\d{1,3}")


def list_addresses(references: Any) -> list[str]:
    """List the addresses of a document's `metadata["references"]`, in the order of their numbers from 1."""
    found = []
    for link in references if isinstance(references, list) else ():
        if isinstance(link, list) and len(link) == 2:  # as crawls wrote them once
            found.append(str(link[1]))
        else:
            found.append(str(link.get("url", "")) if isinstance(link, dict) else "")
    return found


def end_link(words: str, number: int) -> str:
    """Return what stands behind the words of a numbered link."""
    return f" ][{number}]" if NUMBER.fullmatch(words) else f"][{number}]"


def without_numbers(text: str, addresses: Sequence[str] = ()) -> str:
    """Leave the words of numbered links, which are Markdown."""
    pattern = WITH_ADDRESSES if addresses else NUMBERED_LINK
    return pattern.sub(lambda link: link["words"] if _is_link(link, addresses) else link[0], text)


def find_numbered(text: str, addresses: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (words, address) of each numbered link whose address is known."""
    for link in WITH_ADDRESSES.finditer(text):
        if address := _address(link, addresses):
            yield link["words"], address


def renumber(text: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Write the links with their numbers in another list of addresses; one that it lacks gets its address instead."""
    if list(old) == list(new):
        return text
    numbers: dict[str, int] = {}
    for number, address in enumerate(new, start=1):
        numbers.setdefault(address, number)

    def write(link: re.Match[str]) -> str:
        words, address = link["words"], _address(link, old)
        if not address or new[int(link["number"]) - 1 : int(link["number"])] == [address]:
            return link[0]
        if address in numbers:
            return f"[{words}{end_link(words, numbers[address])}"
        return f"[{words}](<{address}>)"

    return WITH_ADDRESSES.sub(write, text)


def _address(link: re.Match[str], addresses: Sequence[str]) -> str:
    number = int(link["number"])
    return addresses[number - 1] if 0 < number <= len(addresses) else ""


def _is_link(link: re.Match[str], addresses: Sequence[str]) -> bool:
    return bool(NUMBERED_LINK.fullmatch(link[0]) or _address(link, addresses))

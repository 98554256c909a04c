"""Text of a page as Markdown that says the same: nothing in it is read as a mark."""

import re

from knowledge.ingest.html.dom import INVISIBLE, SPACES

#: Around code in a paragraph that is still being gathered; pages hold no such characters once they are parsed.
CODE_START, CODE_END = "\x02", "\x03"
MARKUP = re.compile(
    r"""\\(?=[!-/:-@\[-`{-~])            # a backslash that would escape what follows
    | \*(?=\S) | (?<=\S)\*               # emphasis, but not "5 * 3"
    | (?<![^\W_])_(?=\S) | (?<=\S)_(?![^\W_])  # emphasis, but not inside file_name
    | [`\[] | ~~                         # code, links, strikethrough
    | <(?=[A-Za-z/!?])                   # tags
    | &(?=\#?\w+;)                       # entities""",
    re.VERBOSE,
)
#: Where a line would begin a heading, a quotation, a list, a rule, a table's second line.
LINE_START = re.compile(r"^(?:(?=\#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|[-=:|][-=:|\s]*$)|(\d{1,9})(?=[.)](?:\s|$)))")
MARKED_CODE = re.compile(f"{CODE_START}([^{CODE_START}{CODE_END}]*){CODE_END}")


def collapse_space(text: str) -> str:
    """Collapse white space as a browser does: to one blank."""
    return SPACES.sub(" ", INVISIBLE.sub("", text))


def escaped(text: str, *, link: bool = False, cell: bool = False) -> str:
    text = MARKUP.sub(r"\\\g<0>", text)
    if link:
        text = text.replace("]", "\\]")
    return text.replace("|", "\\|") if cell else text


def wrap_in_marks(text: str, before: str, after: str) -> str:
    """Wrap `text` in a pair of marks that stand directly at its words, on one line."""
    inner = text.strip()
    if not inner:
        return text
    inner = " ".join(part for line in inner.split("\n") if (part := line.strip()))
    blank = " " if text[0].isspace() else "", " " if text[-1].isspace() else ""
    return f"{blank[0]}{before}{inner}{after}{blank[1]}"


def split_lines(text: str, *, cell: bool = False) -> list[list[str]]:
    """Split a gathered text into paragraphs of lines: an empty line between two breaks ends a paragraph."""
    text = text.replace(CODE_END + CODE_START, "")
    found: list[list[str]] = [[]]
    for line in re.sub(" {2,}", " ", text).split("\n"):
        line = line.strip() if cell else LINE_START.sub(lambda match: f"{match[1] or ''}\\", line.strip())
        if line := MARKED_CODE.sub(lambda match: _code(match[1], cell), line).strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def _code(text: str, cell: bool) -> str:
    if not text.strip():
        return text
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, blank = "`" * (longest + 1), " " if longest else ""
    text = text.replace("|", "\\|") if cell else text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{fence}{blank}{text.strip()}{blank}{fence}{after}"

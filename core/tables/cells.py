"""Texts as cells that no spreadsheet runs, and back again; pure."""

import re

MARK = "'"
#: What a formula begins with (OWASP, "CSV injection"), full-width signs too, and the run of spaces, quotation marks and
#: marks before it, which does not disarm it. A match begins where the run does, so that the time stays linear.
FORMULA = re.compile(r"""(?<![\s'"])([\s'"]*)([=+\-@＝＋－＠])""")
#: What some spreadsheets pass over at the beginning of a cell.
PASSED_OVER = re.compile(r"'*[\t\r\n]")
#: Where a tab or a line's end in a run begins another cell.
CELL_IN_RUN = r"(?:(?<=[\t\n])|(?<=\r)(?!\n))"
UNMARKED, MARKED = re.compile(CELL_IN_RUN), re.compile(CELL_IN_RUN + MARK)


def neutralise(text: str) -> str:
    """Put a mark before all that a spreadsheet would run, wherever it may begin a cell.

    Excel in German reads a file of commas as one of semicolons. A quotation mark in the middle of a line holds nothing
    together then: a semicolon, a tab or a line's end begins a cell.
    """

    def mark(match: re.Match[str]) -> str:
        return (MARK if _begins_cell(match) else "") + UNMARKED.sub(MARK, match[1]) + match[2]

    marked = FORMULA.sub(mark, text)
    return MARK + marked if PASSED_OVER.match(text) and not _is_formula(text) else marked


def restore(text: str) -> str:
    """Return what `neutralise` was given."""

    def unmark(match: re.Match[str]) -> str:
        run = match[1].removeprefix(MARK) if _begins_cell(match) else match[1]
        return MARKED.sub("", run) + match[2]

    restored = FORMULA.sub(unmark, text)
    return restored.removeprefix(MARK) if PASSED_OVER.match(text) and not _is_formula(text) else restored


def _begins_cell(match: re.Match[str]) -> bool:
    return match.start() == 0 or match.string[match.start() - 1] == ";"


def _is_formula(text: str) -> bool:
    return FORMULA.match(text) is not None

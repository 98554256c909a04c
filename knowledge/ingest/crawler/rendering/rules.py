"""What a page's scripts may load; pure."""

from enum import Enum, auto

from knowledge.ingest.crawler.frontier import Scope

#: Playwright's names of what text may come from.
NEEDED = frozenset({"script", "xhr", "fetch"})


class Verdict(Enum):
    LOAD = auto()
    #: Answered with nothing, so that a script which waits for it goes on.
    EMPTY = auto()
    REFUSE = auto()


def judge(address: str, *, kind: str, method: str, scope: Scope) -> Verdict:
    """Decide about a request of a page, other than that for the page itself; `kind` is Playwright's resource type."""
    if method != "GET":
        return Verdict.REFUSE
    if kind == "stylesheet":
        return Verdict.EMPTY
    return Verdict.LOAD if kind in NEEDED and scope.may_load(address) else Verdict.REFUSE

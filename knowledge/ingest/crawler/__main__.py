"""`python -m knowledge.ingest.crawler PLAN.json`: one crawl; findings on standard output, the log on standard error.

It ends with its parent, and its memory is limited: its input is untrusted.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path

from knowledge.ingest.crawler.messages import CrawlPlan

PR_SET_PDEATHSIG = 1


def main() -> int:
    plan = CrawlPlan.from_wire(json.loads(Path(sys.argv[1]).read_bytes()))
    end_with_parent()
    # The soft limit alone: the browser, a process with a limit of its own, is started without it.
    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (plan.memory_bytes, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    from knowledge.ingest.crawler.run import crawl

    crawl(plan)
    return 0


def end_with_parent() -> None:
    """End this process with its parent: at once on Linux, elsewhere with the next message."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(os.environ.get("CRAWLER_PARENT", os.getppid())):  # it died before the request above
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())

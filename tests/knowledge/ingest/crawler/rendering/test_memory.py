"""What the browser's processes take together, and which of them is ended."""

import os
import subprocess
import sys
from contextlib import ExitStack

from knowledge.ingest.crawler.rendering.memory import end_heaviest, memory_below
from tests.runtime.processes import wait_until

TAKES = "import sys; kept = bytearray(int(sys.argv[1])); print('ready', flush=True); input()"


def test_the_process_that_takes_the_most_is_ended() -> None:
    with ExitStack() as running:
        started = []
        for size in (10_000_000, 90_000_000):
            command = [sys.executable, "-c", TAKES, str(size)]
            process = running.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            started.append(process)
        memory = memory_below(os.getpid())
        small, large = (memory[process.pid] for process in started)
        assert large > 90_000_000 > small > 10_000_000
        end_heaviest({process.pid: memory[process.pid] for process in started})
        wait_until(lambda: started[1].poll() is not None)
        assert started[0].poll() is None
        started[0].kill()

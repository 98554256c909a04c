"""`make run`'s program, started for a test: everything real, the demo included."""

import subprocess
import sys
import urllib.request
from pathlib import Path

from marcelcms.embedded.processes import free_port
from tests.runtime.processes import ROOT, bare_environment, command_lines, descendants, wait_until

COMMAND = [sys.executable, "-m", "marcelcms.embedded"]


class Run:
    """A started `python -m marcelcms.embedded`."""

    def __init__(self, state: Path, **variables: str) -> None:
        self.state, self.port = state, free_port()
        self.output = (state / "output").open("w+")
        environment = bare_environment(STATE_DIR=str(state), PORT=str(self.port), **variables)
        self.process = subprocess.Popen(COMMAND, cwd=ROOT, env=environment, stdout=self.output, stderr=self.output)
        wait_until(lambda: "MarcelCMS runs" in self.printed() or self.process.poll() is not None, 240)
        assert self.process.poll() is None, self.printed()

    def printed(self) -> str:
        return (self.state / "output").read_text()

    def get(self, path: str) -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as response:
            return response.status

    @property
    def password(self) -> str:
        return (self.state / "admin_password").read_text().strip()

    def web(self) -> int:
        """The process number of the web server, 0 when there is none."""
        ours = descendants(self.process.pid)
        return next((pid for pid, line in command_lines().items() if pid in ours and "uvicorn" in line), 0)

    def end(self) -> None:
        """At once: its children end with it."""
        self.process.kill()
        self.process.wait()
        self.output.close()

"""`make run`'s program, started for a test: everything real, the demo included."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from marcelcms.embedded.processes import free_port
from tests.runtime.processes import ROOT, bare_environment, leading, wait_until

COMMAND = [sys.executable, "-m", "marcelcms.embedded"]


class Run:
    """A started `python -m marcelcms.embedded`."""

    def __init__(self, state: Path, *, within: Sequence[str] = (), **variables: str) -> None:
        """`within` is a command that runs another one, in a room of its own."""
        self.state, self.port = state, free_port()
        self.output = (state / "output").open("w+")
        self.environment = bare_environment(STATE_DIR=str(state), PORT=str(self.port), **variables)
        self.process = subprocess.Popen(
            [*within, *COMMAND], cwd=ROOT, env=self.environment, stdout=self.output, stderr=self.output
        )
        try:
            wait_until(lambda: "MarcelCMS runs" in self.printed() or self.process.poll() is not None, 240)
            assert self.process.poll() is None, self.printed()
        except BaseException:
            # One that is too slow would go on without anybody to end it.
            self.process.kill()
            raise

    def printed(self) -> str:
        return (self.state / "output").read_text()

    def get(self, path: str) -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as response:
            return response.status

    @property
    def password(self) -> str:
        return (self.state / "admin_password").read_text().strip()

    def web(self) -> int:
        """Return the process number of the web server, 0 when there is none."""
        return leading("web", self.process.pid)

    def end(self) -> None:
        """At once: its children end with it."""
        self.process.kill()
        self.process.wait()
        self.output.close()

    def manage(self, *arguments: str) -> str:
        """Return what a management command beside it printed on standard output."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def does(self, code: str) -> str:
        """Return what Python beside it printed."""
        return self.manage("shell", "--no-imports", "-c", code)


class Web:
    """Another web process beside a run's own, on the same servers."""

    def __init__(self, run: Run) -> None:
        self.run, self.port = run, free_port()
        self.start()

    def start(self, **changes: str) -> None:
        own = self.run.environment
        if "DATABASE_URL" not in own:  # those that the run started and made by itself
            announced = json.loads((self.run.state / "services.json").read_text())
            variables = {"postgres": "DATABASE_URL", "valkey": "REDIS_URL"}
            own = own | {variables[name]: entry["url"] for name, entry in announced.items()}
            own["SECRET_KEY"] = (self.run.state / "secret_key").read_text().strip()
        command = [sys.executable, "-m", "uvicorn", "marcelcms.asgi:application", "--port", str(self.port)]
        command += ["--no-proxy-headers", "--ws", "websockets-sansio", "--no-access-log"]
        with (self.run.state / f"web-{self.port}").open("a") as output:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=own | {"OMP_NUM_THREADS": "1"} | changes,
                stdout=output,
                stderr=output,
            )
        wait_until(lambda: self.answers() or self.process.poll() is not None, 60)
        assert self.process.poll() is None, (self.run.state / f"web-{self.port}").read_text()

    def answers(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/live", timeout=5) as reply:
            return bool(reply.status == 200)
        return False

    def end(self) -> None:
        """As who runs the service ends it: it finishes the answers in progress."""
        self.process.terminate()
        self.process.wait(60)

    def kill(self) -> None:
        """As when the machine takes its memory: nothing is said to anybody."""
        self.process.kill()
        self.process.wait()

"""A Valkey that a test may kill and start again at the same address: it keeps its data, as that of `make run`."""

import subprocess
from pathlib import Path

from marcelcms.embedded import valkey
from marcelcms.embedded.processes import answers, free_port
from tests.runtime.processes import wait_until


class Valkey:
    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        folder.mkdir()
        self.start()

    def start(self) -> None:
        options = {"bind": "127.0.0.1", "port": self.port, "dir": self.folder, "appendonly": "yes", "save": ""}
        arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen([valkey._binary(), *arguments], stdout=log)
        wait_until(lambda: answers(self.port))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

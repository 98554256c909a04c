"""Files that are made from a package once and kept."""

import tempfile
from collections.abc import Callable
from pathlib import Path


def made_once(target: Path, make: Callable[[], bytes]) -> Path:
    """Return `target`, after writing what `make` returns if it does not exist yet."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        data = make()
        # Renamed into place: another process may be doing the same.
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
            file.write(data)
        made = Path(file.name)
        made.chmod(0o644)
        made.replace(target)
    return target

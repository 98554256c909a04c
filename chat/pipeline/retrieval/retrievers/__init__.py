"""The retrievers that a profile can use: every module of this folder registers its own when it is imported."""

from importlib import import_module
from pkgutil import iter_modules


def register_all() -> None:
    """Import every module of this folder."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")

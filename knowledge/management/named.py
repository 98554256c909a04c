"""What commands are told by name."""

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug


def check_collection(slug: str) -> None:
    """Raises CommandError where no collection can be called so."""
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise CommandError(f"--collection {slug!r}: letters, digits, hyphens and underscores only.") from error

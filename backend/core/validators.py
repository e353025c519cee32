"""Define validators of model fields."""

from django.core.exceptions import ValidationError


def check_printable(text: str) -> None:
    """Allow line breaks, but no other control characters."""
    if not text.replace("\r", "").replace("\n", " ").isprintable():
        raise ValidationError("Use only printable characters.")

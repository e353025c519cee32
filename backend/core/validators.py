from django.core.exceptions import ValidationError


def check_printable(text: str) -> None:
    """Reject control characters, but allow line breaks."""
    if not text.replace("\r", "").replace("\n", " ").isprintable():
        raise ValidationError("Use only printable characters.")

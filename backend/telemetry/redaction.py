"""No secret in a log: what looks like one is taken out of every line before it is written."""

import logging
import re

SECRETS = re.compile(
    r"cmk_[\w-]{8,}|(?P<kept>shares(?:/|%2F)+)[\w-]{20,}|(?<=[?&]code=)[^\s&\"]+"
    r"|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)",
    re.IGNORECASE,
)
"""Tokens; secrets of shares, which are part of an address; codes of an OpenID Connect provider;
names and passwords in addresses of databases. Passwords of people are never logged at all."""

REMOVED = "[secret]"


def without_secrets(text: str) -> str:
    """The text with every token and share secret replaced."""
    return SECRETS.sub(lambda found: f"{found['kept'] or ''}{REMOVED}", text)


class RedactSecrets(logging.Filter):
    """Rewrites records in place, so that whatever writes them has them clean."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, clean."""
        said = record.getMessage()
        clean = without_secrets(said)
        if clean != said:
            record.msg, record.args = clean, None
        if record.exc_info and record.exc_info[0] and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = without_secrets(record.exc_text)
        return True

import argparse
import configparser
import os
import re
import sys
import urllib.parse
from typing import Any, Callable, Dict, List, Optional, Tuple

from ciphermark_agent.common import Progress, UsageError, own_file, reason_of, say, shell_words
from ciphermark_agent.tries import DEPTHS, Depth
from ciphermark_agent.upload import Site


def typed(text: str) -> str:
    """Decode a command-line argument as UTF-8, regardless of the locale."""
    return os.fsencode(text).decode("utf-8", "replace")


def host_label(text: str) -> str:
    text = typed(text).strip()
    if not 1 <= len(text) <= 200:
        raise argparse.ArgumentTypeError("must have 1 to 200 characters")
    return text


def listed(text: str) -> List[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def tag_pair(text: str) -> Tuple[str, str]:
    key, separator, value = typed(text).partition("=")
    if not separator or not re.match(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,49}$", key) or len(value) > 200:
        words = "must be KEY=VALUE; KEY has up to 50 characters (A-Z a-z 0-9 . - _)"
        raise argparse.ArgumentTypeError(words + ", VALUE up to 200")
    return key, value


def name_list(text: str) -> Tuple[str, ...]:
    names = tuple(listed(text.lower()))
    if not names:
        raise argparse.ArgumentTypeError("must contain at least one name")
    return names


def depth_name(text: str) -> Depth:
    if text not in DEPTHS:
        raise argparse.ArgumentTypeError("must be one of " + ", ".join(DEPTHS))
    return DEPTHS[text]


# Parsers of settings that are options of `run`, and of all settings.
OPTIONS: Dict[str, Callable[[str], Any]] = {
    "name": host_label,
    "tags": lambda text: [tag_pair(part) for part in listed(text)],
    "depth": depth_name,
    "ciphers": name_list,
}
UPLOAD_SETTINGS = ("server", "token", "token_file")
SETTINGS: Dict[str, Callable[[str], Any]] = {**dict.fromkeys(UPLOAD_SETTINGS, str), **OPTIONS}


def configuration_files() -> List[str]:
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return [os.path.join(home, "ciphermark", "agent.ini"), "/etc/ciphermark/agent.ini"]


def configuration() -> Dict[str, Any]:
    settings: Dict[str, Any] = {}
    for path in configuration_files():
        parser = configparser.ConfigParser(interpolation=None)
        try:
            with open(path, encoding="utf-8-sig") as file:  # Windows editors write a BOM
                parser.read_file(file)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if isinstance(error, PermissionError) and path.startswith("/etc/"):
                continue  # readable only by root, because it contains a token
            raise UsageError("cannot read %s: %s" % (path, error.strerror))
        except configparser.MissingSectionHeaderError as error:
            raise UsageError("%s, line %d: no [agent] section" % (path, error.lineno))
        except (configparser.Error, ValueError) as error:  # its text may contain the token
            raise UsageError("%s is not a valid INI file (%s)" % (path, type(error).__name__))
        if parser.sections() != ["agent"]:
            raise UsageError("%s must contain only the section [agent]" % path)
        for key, text in parser["agent"].items():
            if key not in SETTINGS:
                raise UsageError(f"{path}: unknown setting {key}; use {', '.join(SETTINGS)}")
            try:
                if text:
                    settings.setdefault(key, SETTINGS[key](text))
            except argparse.ArgumentTypeError as error:
                raise UsageError("%s: %s %s" % (path, key, error))
    return settings


def run_options(arguments: argparse.Namespace) -> argparse.Namespace:
    depth, seconds = arguments.depth, arguments.seconds
    depth = depth._replace(tries=arguments.tries or depth.tries)
    if arguments.wait is not None:
        depth = depth._replace(wait_seconds=arguments.wait)
    if seconds is not None:
        depth = depth._replace(pipeline_seconds=seconds, steady_seconds=seconds)
        depth = depth._replace(openssl_seconds=max(1, round(seconds)))
    return changed(arguments, depth=depth, openssl=None)


def changed(options: argparse.Namespace, **values: Any) -> argparse.Namespace:
    return argparse.Namespace(**dict(vars(options), **values))


def upload_site(arguments: argparse.Namespace) -> Optional[Site]:
    given = configuration()
    server = arguments.server or os.environ.get("CIPHERMARK_SERVER") or given.get("server")
    if not server:
        return None
    try:
        parts = urllib.parse.urlsplit(server)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets, or a port that is not a number
        valid = None
    if not valid:
        raise UsageError("--server %s: must be a URL such as https://ciphermark.example" % server)
    if given.get("server", server) != server:
        given = {}  # its token is for another server
    token = arguments.token or token_from_file(arguments.token_file)
    token = token or os.environ.get("CIPHERMARK_TOKEN", "").strip() or given.get("token")
    token = token or token_from_file(given.get("token_file"))
    if not token and not getattr(arguments, "dry_run", False):
        raise UsageError("--server requires --token, --token-file or CIPHERMARK_TOKEN")
    if token and not re.match(r"[\x21-\x7e]+\Z", token):
        raise UsageError("the token contains invalid characters; copy it again")
    if parts.scheme == "http" and not re.match(
        r"localhost$|127(\.\d+){3}$|::1$", parts.hostname or ""
    ):
        say("Warning: the token is sent unencrypted. Use https.\n", sys.stderr)
    note = Progress(getattr(arguments, "progress", "plain")).note
    return Site(server, token or "", upload_again(arguments), note)


def token_from_file(path: Optional[str]) -> Optional[str]:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read().strip()
    except (OSError, ValueError) as error:
        raise UsageError("cannot read --token-file %s: %s" % (path, reason_of(error)))


def upload_again(arguments: argparse.Namespace) -> str:
    """Return the shell command that uploads the saved runs. The word TOKEN replaces the token."""
    words = [sys.executable or "python3", os.path.abspath(own_file()), "upload"]
    words += ["--server", arguments.server] if arguments.server else []
    words += ["--token", "TOKEN"] if arguments.token else []
    words += ["--token-file", os.path.abspath(arguments.token_file)] if arguments.token_file else []
    return shell_words(words)

"""What every log line of the present request or task says: request, client, run, task."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_context: ContextVar[Mapping[str, str]] = ContextVar("_context", default={})  # noqa: B039


def start_context(**fields: str) -> None:
    """Begin a request or a task: what was said of the one before in this thread is gone."""
    _context.set(fields)


def add_to_context(**fields: str) -> None:
    """Say this too, in every further line."""
    _context.set({**_context.get(), **fields})


def log_context() -> Mapping[str, str]:
    """What the next line says."""
    return _context.get()


@contextmanager
def while_processing(run_id: object) -> Iterator[None]:
    """Name a run. After a failure it stays named: whoever logs the exception is further out."""
    before = _context.get()
    add_to_context(run_id=str(run_id))
    yield
    _context.set(before)

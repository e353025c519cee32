import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Parametrize a test, but run all cases as one test, because starting a test is slow.

    Cases must have no side effects. If a case fails, the error message contains the case. Several
    decorators on one test create every combination of cases.
    """
    known = tuple(names.split(", ")) if isinstance(names, str) else names
    every = tuple(cases)
    assert every, "no case is no test"

    def decorated(test: Test) -> Test:
        @wraps(test)
        def of_all(*arguments: Any, **fixtures: Any) -> None:
            for case in every:
                given = (case,) if len(known) == 1 else case
                try:
                    test(*arguments, **fixtures, **dict(zip(known, given, strict=True)))
                except BaseException as fault:
                    fault.add_note(f"with {', '.join(known)}: {case!r}")
                    raise

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in known]
        vars(of_all)["__signature__"] = signature.replace(parameters=left)
        return of_all

    return decorated

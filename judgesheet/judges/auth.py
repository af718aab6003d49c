"""The user's own authentication and transport: objects of httpx, or `--auth module:factory`.

    def factory() -> httpx.Auth | httpx.AsyncBaseTransport | tuple[httpx.Auth, ...]: ...

The module is loaded when a judge is opened and the factory called when it is entered: a run with
nothing left to ask needs no token. docs/corporate.md has an example of each kind.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, NamedTuple

from judgesheet.base.errors import JudgeError, UsageError
from judgesheet.judges.redaction import is_secret_name, of_environment
from judgesheet.judges.user_code import aside, ended_by_ctrl_c, in_words, named_object

if TYPE_CHECKING:
    import httpx


class Access(NamedTuple):
    """How requests are signed and carried; None for what the user leaves to us."""

    auth: "httpx.Auth | None" = None
    transport: "httpx.AsyncBaseTransport | None" = None


def opener(
    auth: "httpx.Auth | str | None", transport: "httpx.AsyncBaseTransport | None"
) -> Callable[[], Access]:
    """What makes the access of a session from what the user gave; `transport` comes first.

    UsageError if `auth` names nothing that can be called. What is returned raises UsageError for
    objects of another kind, and JudgeError where the user's factory fails.
    """
    given = [] if transport is None else [transport]
    if not isinstance(auth, str):
        objects = given if auth is None else [*given, auth]
        return lambda: _access("auth or transport", objects)
    factory, name = named_object(auth), f"--auth {auth}"
    if not callable(factory):
        raise UsageError(f"{name} is a {type(factory).__name__}: name a function that makes one")
    return lambda: _access(name, [*given, *_made(factory, name)])


def _made(factory: Callable[[], Any], name: str) -> list[Any]:
    try:
        # Standard output is for what the command was asked for.
        with aside(sys.stderr), ended_by_ctrl_c():
            made = factory()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = of_environment()(in_words(error))
        raise JudgeError(f"{name} failed ({said}): call it in Python to see why") from None
    if iscoroutine(made):
        made.close()  # it is refused, and Python would complain that nobody awaits it
    return [*made] if isinstance(made, tuple | list) else [made]


def _access(name: str, made: list[Any]) -> Access:
    import httpx

    for one in made:
        if not isinstance(one, httpx.Auth | httpx.AsyncBaseTransport):
            raise UsageError(
                f"{name} gives {type(one).__name__}: it takes an httpx.Auth, an "
                "httpx.AsyncBaseTransport, or both in a tuple"
            )
    auths = (one for one in made if isinstance(one, httpx.Auth))
    transports = (one for one in made if isinstance(one, httpx.AsyncBaseTransport))
    return Access(next(auths, None), next(transports, None))


def secrets_held(owner: object) -> Iterator[str]:
    """The texts that an object, or one in it, has under the name of a secret."""
    for one in (owner, *_attributes(owner).values()):
        for name, value in _attributes(one).items():
            if is_secret_name(str(name)) and isinstance(value, str | bytes):
                yield value if isinstance(value, str) else value.decode("latin-1")


def _attributes(owner: object) -> Mapping[Any, Any]:
    if isinstance(owner, Mapping):
        return owner
    slots = (name for kind in type(owner).__mro__ for name in getattr(kind, "__slots__", ()))
    kept = {name: getattr(owner, name, None) for name in slots}
    return kept | getattr(owner, "__dict__", {})

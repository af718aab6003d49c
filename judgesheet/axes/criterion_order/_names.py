"""Names of criteria: what they may look like, and when two of them are the same."""

from collections.abc import Sequence

from judgesheet.axis.numbers import plain

LONGEST = 60
_RESERVED = "[]="


def fault_of_names(names: Sequence[object]) -> str | None:
    """What keeps these from being names that a reply and a key can tell apart; None if nothing."""
    for name in names:
        if not isinstance(name, str) or not plain(name) or name != name.strip():
            return f"{name!r} is no name of a criterion"
        if len(name) > LONGEST or not name.isprintable() or set(_RESERVED) & set(name):
            return (
                f"{name[:LONGEST]!r} is no name of a criterion: at most {LONGEST} visible "
                f"characters without {' '.join(_RESERVED)}"
            )
    if len({plain(str(name)) for name in names}) != len(names):
        return "two criteria have the same name"
    return None

"""`judgesheet explain`: what an estimate is, and how to read it."""

from difflib import get_close_matches
from inspect import cleandoc

import click

from judgesheet.axes import all_axes
from judgesheet.base.errors import UsageError
from judgesheet.commands.terminal import say_lines


def explain(key: str | None = None) -> str:
    """What an estimate is, its formula, source and how to read it; without a key, all there are.

    UsageError if it is not a key, or a name that several axes have; the sentence lists likely ones.
    """
    texts = {
        f"{axis.NAME}.{name}": figure.__doc__
        for axis in all_axes().values()
        for name, figure in axis.ESTIMATES.items()
    }
    if key is None:
        return "\n".join(texts)
    wanted = key.partition("[")[0]
    meant = [name for name in texts if wanted in (name, name.partition(".")[2])]
    if len(meant) == 1:
        return f"{meant[0]}\n\n{cleandoc(texts[meant[0]] or '')}"
    if meant:
        raise UsageError(f"several axes have {key!r}: take {', '.join(meant)}")
    axis, _, name = wanted.rpartition(".")
    names = {text: text.partition(".")[2] for text in texts}  # all keys of an axis begin alike
    near = get_close_matches(name, set(names.values()), n=3, cutoff=0.5)
    likely = [text for text in texts if names[text] in near]
    likely = [text for text in likely if text.startswith(f"{axis}.")] or likely
    more = f"did you mean {', '.join(likely)}?" if likely else "`judgesheet explain` lists them all"
    raise UsageError(f"there is no figure {key!r}; {more}")


@click.command("explain")
@click.argument("keys", nargs=-1, metavar="[KEY]")
def command(keys: tuple[str, ...]) -> None:
    """Explain an estimate: its formula, its source and how to read it.

    KEY is axis.name, or only the name if a single axis has it; without a KEY all are listed.
    """
    if len(keys) > 1:
        raise UsageError(f"`explain` takes no run, only a key: judgesheet explain {keys[-1]}")
    say_lines(explain(*keys))

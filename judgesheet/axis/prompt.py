"""Prompt templates: found, compiled and rendered in one place, for every axis."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from judgesheet import errors
from judgesheet.axis import Options
from judgesheet.records import canonical_json, digest
from judgesheet.resources import data_folder

# Prompts are plain text: nothing is escaped, and stimuli enter as values, never as templates.
_ENVIRONMENT = SandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False, trim_blocks=False
)


def built_in(name: str) -> str:
    """The source of a template under `templates/prompts/`."""
    return (data_folder("templates") / "prompts" / name).read_text(encoding="utf-8")


def parameters(
    options: Options, budgets: Mapping[str, int], name: str, schema: Mapping[str, Any]
) -> dict[str, Any]:
    """The parameters of a request for one reply; in JSON it is called `name` and has this schema.

    `budgets` are the tokens that a reply may take, by reply format (recorded replies take none);
    `max_tokens` of the options overrides them.
    """
    params: dict[str, Any] = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens or budgets.get(options.reply, 0),
    }
    if options.reply == "json":
        params["response_format"] = response_format(name, schema)
    return params


def response_format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameter that constrains a reply to a JSON Schema."""
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@lru_cache(maxsize=64)
def compile_prompt(source: str, what: str) -> Callable[..., str]:
    """A function that renders the template with keyword variables.

    TemplateError if it does not parse, or later if it uses a variable that the axis does not offer;
    the sentence names `what` and the line.
    """
    try:
        template = _ENVIRONMENT.from_string(source)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise errors.TemplateError(f"{what}, line {line}: {error.message}") from None

    def render(**variables: object) -> str:
        try:
            return template.render(**variables).strip() + "\n"
        except TemplateError as error:
            raise errors.TemplateError(
                f"{what}: {error.message}; its variables are {', '.join(variables)}"
            ) from None

    return render


def boundary(before: Sequence[str], texts: Sequence[str]) -> str:
    """A word that occurs in none of the texts, the same for every order of them.

    It marks where each text begins and ends, so that no text can imitate an end.
    """
    content = [*before, *sorted(texts)]
    word = digest(canonical_json(content))[:10]
    while any(word in text for text in content):
        word = digest(word)[:10]
    return word


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to fill a template: its variables, and what it must then show, in displayed order."""

    variables: Mapping[str, Any]
    order: Sequence[str]


def mark(name: str) -> str:
    """A text that stands for `name` in a trial rendering and occurs nowhere else."""
    return f"\x02{name}\x03"


def renderer(
    axis: str,
    options: Options,
    variants: Iterable[Variant],
    shown: Sequence[str],
    *,
    labelled: bool = False,
) -> Callable[..., str]:
    """The user's template if there is one, else the built-in one of the axis, ready to fill.

    A user's template is tested first: it must show everything that the judge must see exactly once,
    in the order given.

    Parameters
    ----------
    variants
        At least two orders of the same things. `order` lists the names of what is permuted; the
        variables hold `mark(name)` in their places.
    shown
        Names of what else must be shown.
    labelled
        Whether each permuted thing has a label of its own (the number of a score, the name of a
        criterion) that must move with it, instead of a number for its place.

    Raises
    ------
    TemplateError
        that says what is missing, repeated or out of order.
    """
    what = f"the prompt of {axis}"
    render = compile_prompt(options.template or built_in(f"{axis}.jinja"), what)
    if options.template:
        _refuse_blind(render, list(variants), shown, what, labelled=labelled)
    return render


def _refuse_blind(
    render: Callable[..., str],
    variants: Sequence[Variant],
    shown: Sequence[str],
    what: str,
    *,
    labelled: bool,
) -> None:
    rest = set()
    for variant in variants:
        text = render(**variant.variables)
        for name in (*shown, *variant.order):
            times = text.count(mark(name))
            if times != 1:
                raise errors.TemplateError(f"{what} shows the {name} {times} times, not once")
        if sorted(variant.order, key=lambda name: text.index(mark(name))) != list(variant.order):
            raise errors.TemplateError(
                f"{what} does not list the {_plural(variant.order[0])} in the order it is given: "
                "loop over them as given"
            )
        for name in variant.order:
            text = text.replace(mark(name), "")
        rest.add(text)
    if labelled and len(rest) < len(variants):
        raise errors.TemplateError(
            f"{what} does not say which is which of the {_plural(variants[0].order[0])}: print the "
            "label that each one carries, not its place in the list"
        )


def _plural(name: str) -> str:
    """`option 3` -> `options`."""
    noun = name.partition(" ")[0]
    return {"criterion": "criteria"}.get(noun, f"{noun}s")

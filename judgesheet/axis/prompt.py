"""Prompt templates: found, compiled and rendered in one place, for every axis."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NoReturn, Self

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from judgesheet.axis import Options
from judgesheet.base import errors
from judgesheet.base.records import canonical_json, digest
from judgesheet.base.resources import data_folder
from judgesheet.base.scale import Scale

# Stimuli enter as values, never as templates. Prompts are plain text: nothing is escaped.
_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined)
_FAULTS = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError),
    *(TypeError, ValueError),
)
"""What reading or rendering a template can raise beside Jinja's own errors."""


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


def score_schema(scale: Scale) -> dict[str, Any]:
    """The JSON Schema of a score."""
    return {"type": "integer" if scale.is_whole else "number", "enum": scale.numbers}


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def compile_prompt(source: str, what: str) -> Callable[..., str]:
    """A function that renders the template with keyword variables.

    TemplateError if it does not parse, or later if it uses a variable that the axis does not offer;
    the sentence names `what` and the line.
    """
    render = _compiled(source, what)
    return lambda **variables: _finished(render(**variables))


def _finished(text: str) -> str:
    return text.strip() + "\n"


@lru_cache(maxsize=64)
def _compiled(source: str, what: str) -> Callable[..., str]:
    try:
        template = _ENVIRONMENT.from_string(source)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise errors.TemplateError(f"{what}, line {line}: {error.message}") from None
    except (MemoryError, RecursionError, SyntaxError):
        raise errors.TemplateError(f"{what}: it is nested too deeply") from None

    def render(**variables: object) -> str:
        try:
            return template.render(variables)
        except (TemplateError, *_FAULTS) as error:
            said = f"{error}" or type(error).__name__
            raise errors.TemplateError(
                f"{what}: {said}; its variables are {', '.join(variables)}"
            ) from None

    return render


def boundary(before: Sequence[str], texts: Sequence[str]) -> str:
    """A word that occurs in none of the texts, the same for every order of them.

    It marks where each text begins and ends, so that no text can imitate an end.
    """
    # Sorted: every order of the texts has the same mark, so that nothing else differs.
    content = [*before, *sorted(texts)]
    word = digest(canonical_json(content))[:10]
    while any(word in text for text in content):
        word = digest(word)[:10]
    return word


def renderer(
    name: str,
    options: Options,
    shown: Sequence[str],
    permuted: Mapping[str, str],
    *,
    labelled: bool = False,
) -> Callable[..., str]:
    """The user's template if there is one, else the built-in one of this name, ready to fill.

    A user's template is tested with every call: it must show everything that the judge must see
    exactly once, in the order given, and be blind to what the texts say.

    Parameters
    ----------
    shown
        Names of the variables that must be shown, beside what is permuted.
    permuted
        The permuted variables, and what one thing in them is called; `variable.key` for a list of
        objects, of which the text under the key must be shown.
    labelled
        Whether each permuted thing has a label of its own (the number of a score) that must stand
        beside it, instead of a number for its place.

    Raises
    ------
    TemplateError
        when a call is rendered: it says what is missing, repeated, out of order or looked at.
    """
    what = f"the prompt of {name}"
    if not options.template:
        return compile_prompt(built_in(f"{name}.jinja"), what)
    return _Tested(options.template, what, shown, permuted, labelled=labelled)


class _Tested:
    """A template that is rendered twice for each call: with its texts, and with marks for them.

    Both must be the same but for the texts in the places of the marks. So what is true of the marks
    is true of what is sent, and a template that looks at a text, to sort it or to give a hint, is
    found out by the first text that it treats otherwise than a mark.
    """

    def __init__(
        self,
        source: str,
        what: str,
        shown: Sequence[str],
        permuted: Mapping[str, str],
        *,
        labelled: bool,
    ) -> None:
        self._render, self._what = _compiled(source, what), what
        self._shown, self._permuted, self._labelled = shown, permuted, labelled
        self._frames: dict[str, tuple[list[str], list[str], dict[str, str]]] = {}

    def __call__(self, **variables: Any) -> str:
        """The prompt of a call; TemplateError if it does not show what it is given, blindly."""
        texts: dict[str, str] = {}
        blank, listed = dict(variables), list[str]()
        for name in self._shown:
            blank[name] = _marked(variables[name], name, texts)
        for place, noun in self._permuted.items():
            name, _, key = place.partition(".")
            blank[name] = _marked(variables[name], noun, texts, key)
            listed += [f"{noun} {n + 1}" for n in range(len(variables[name]))] if key else [noun]
        text, parts = self._render(**variables), _MARK.split(self._render(**blank))
        words, names = parts[::2], parts[1::2]
        self._refuse_wrong_places(listed, names)
        if not _is_filled(text, words, [texts.get(name, name) for name in names]):
            self._refuse("does not print the texts as they are, or looks at what they say")
        if self._labelled:
            varied = {*self._shown, *(place.partition(".")[0] for place in self._permuted)}
            others = {name: value for name, value in variables.items() if name not in varied}
            self._refuse_wrong_labels(listed, canonical_json(others), (words, names, texts))
        return _finished(text)

    def _refuse_wrong_places(self, listed: Sequence[str], names: Sequence[str]) -> None:
        for name in (*self._shown, *listed):
            if (times := names.count(name)) != 1:
                if not times:
                    self._refuse(f"does not show {self._how_to_show(name)}")
                self._refuse(f"shows the {name} {times} times, not once")
        if [name for name in names if name in listed] != listed:
            self._refuse(
                f"does not list the {_plural(listed[0])} in the order it is given: loop over them "
                "as given"
            )

    def _how_to_show(self, name: str) -> str:
        """The variable that a template lacks, and what to write."""
        for place, noun in self._permuted.items():
            variable, _, key = place.partition(".")
            if key and name.startswith(f"{noun} "):
                part = f"{{{{ {noun}.{key} }}}}"
                loop = f"{{% for {noun} in {variable} %}}{part}{{% endfor %}}"
                return f"every {noun} of the variable {variable}: write {loop}"
            if name == noun:
                name = variable
        return f"the variable {name}: write {{{{ {name} }}}} where the judge is to read it"

    def _refuse_wrong_labels(
        self, listed: Sequence[str], others: str, frame: tuple[list[str], list[str], dict[str, str]]
    ) -> None:
        """Labels move with what they label, and nothing else changes with the order."""
        if not _beside(listed, frame[1]):
            self._refuse(
                f"does not say which is which of the {_plural(listed[0])}: print the label that "
                "each one carries, not its place in the list"
            )
        if not _is_same(frame, self._frames.setdefault(others, frame)):
            self._refuse(f"has other words where the {_plural(listed[0])} stand in another order")

    def _refuse(self, fault: str) -> NoReturn:
        raise errors.TemplateError(f"{self._what} {fault}")


_MARK = re.compile("\x02[0-9a-f]{4} ([^\x03]*)\x03")


@lru_cache(maxsize=1024)
def _mark(name: str) -> str:
    """A text that stands for `name` in a trial rendering; sorted, marks are in no order."""
    return f"\x02{digest(name)[:4]} {name}\x03"


class _MarkedNumber(int):
    """A number that is written as a mark."""

    _written: str

    def __new__(cls, value: int, written: str) -> Self:
        self = super().__new__(cls, value)
        self._written = written
        return self

    def __str__(self) -> str:
        return self._written


def _marked(value: Any, name: str, texts: dict[str, str], key: str = "") -> Any:
    """The value with marks for its texts and numbers, which are noted in `texts` by their names.

    What stands under `key` has the name of the whole; a `label` is that of a place and stays.
    """
    if isinstance(value, list):
        return [_marked(one, f"{name} {n}", texts, key) for n, one in enumerate(value, start=1)]
    if isinstance(value, Mapping):
        names = {part: name if part == key else f"{name}, {part}" for part in value}
        return {
            part: one if part == "label" else _marked(one, names[part], texts)
            for part, one in value.items()
        }
    texts[name] = str(value)
    return _mark(name) if isinstance(value, str) else _MarkedNumber(value, _mark(name))


def _is_filled(text: str, words: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a text is these words with these texts between them, blanks around each apart."""
    ends = {len(words[0])} if text.startswith(words[0]) else set()
    for filling, word in zip(texts, words[1:], strict=True):
        forms = {f"{filling}{word}", f"{filling.strip()}{word}"}
        ends = {end + len(form) for form in forms for end in ends if text.startswith(form, end)}
    return len(text) in ends


def _beside(listed: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the label of each thing stands right before it, or that of each right behind it."""
    edges = [-1, *map(names.index, listed), len(names)]
    between = [names[start + 1 : end] for start, end in pairwise(edges)]
    labels = [f"{name}, " for name in listed]
    return any(
        all(any(name.startswith(label) for name in group) for label, group in zip(labels, groups))  # noqa: B905
        for groups in (between, between[1:])
    )


def _is_same(
    one: tuple[list[str], list[str], dict[str, str]],
    other: tuple[list[str], list[str], dict[str, str]],
) -> bool:
    """Whether two orders have the same words, and in each place the same thing or the same text."""
    (words, names, texts), (other_words, other_names, other_texts) = one, other
    return words == other_words and all(
        mine == theirs or texts.get(mine) == other_texts.get(theirs)
        for mine, theirs in zip(names, other_names, strict=True)
    )


def _plural(name: str) -> str:
    """`option 3` -> `options`."""
    noun = name.partition(" ")[0]
    return {"criterion": "criteria"}.get(noun, f"{noun}s")

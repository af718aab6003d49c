"""Prompt templates: found, compiled and rendered in one place, for every axis."""

from collections.abc import Callable

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from judgesheet import errors
from judgesheet.resources import template_dir

# Prompts are plain text: nothing is escaped, and stimuli enter as values, never as templates.
_ENVIRONMENT = SandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False, trim_blocks=False
)


def built_in(name: str) -> str:
    """The source of a template under `templates/prompts/`."""
    return (template_dir() / "prompts" / name).read_text(encoding="utf-8")


def compile_prompt(source: str, what: str) -> Callable[..., str]:
    """A function that renders the template with keyword variables.

    Raises
    ------
    TemplateError
        if it does not parse, or later if it uses a variable that the axis does not offer; the
        sentence names `what` and the line.
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

"""A user's template that computes without end is refused in one sentence."""

import time

import pytest

from judgesheet.axis import prompt
from judgesheet.axis.prompt import compile_prompt
from judgesheet.base.errors import TemplateError

ENDLESS = {
    "a long range": "{% for i in range(10**9) %}{% endfor %}",
    "loops within each other": "{% for i in range(99999) %}{% for j in range(99999) %}"
    "{% endfor %}{% endfor %}",
    "a loop that calls itself": "{% for i in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "a macro that calls itself": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "brackets within brackets": f"{{{{ {'(' * 9999}1{')' * 9999} }}}}",
    "reaching out": "{{ ''.__class__.__mro__ }}",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_it_ends_in_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "LONGEST_S", 0.2)
    with pytest.raises(TemplateError, match=r"^the prompt of score_order: ") as caught:
        compile_prompt(ENDLESS[name], "the prompt of score_order")()
    assert "\n" not in str(caught.value)


class Slow:
    """A text that waits, as everything does on a busy machine."""

    def __str__(self) -> str:
        time.sleep(0.1)
        return "x"


def test_waiting_is_no_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "LONGEST_S", 0.05)
    assert compile_prompt("{{ a ~ a }}{{ a ~ a }}", "it")(a=Slow()) == "xxxx\n"

"""A user's template that computes without end is refused in one sentence."""

import time

import pytest

from judgesheet.axis import bounded
from judgesheet.axis.prompt import compile_prompt
from judgesheet.base.errors import TemplateError

TWICE = "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}"
ENDLESS = {
    "a long range": "{% for i in range(10**9) %}{% endfor %}",
    "loops within each other": "{% for i in range(99999) %}{% for j in range(99999) %}"
    "{% endfor %}{% endfor %}",
    "a long text": "{{ 'x' * 10**10 }}",
    "a long list": "{{ 10**10 * [1] }}",
    "a large number": "{{ 10**(10**8) }}",
    "a product": "{% set ns = namespace(x=3) %}{% for i in range(60) %}"
    "{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "doubling by ~": "{% set ns = namespace(x='x') %}{% for i in range(60) %}"
    "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "doubling by +": "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}"
    "{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "a loop that calls itself": "{% for i in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "a macro that calls itself twice": TWICE,
    "a wide field": "{{ 'x'|center(2 * 10**9) }}",
    "a wide field of a method": "{{ 'x'.ljust(2 * 10**9) }}",
    "a width in a format": "{{ '%2000000000d'|format(1) }}",
    "a width in an operation": "{% set x = '%2000000000d' %}{{ x % 1 }}",
    "a width in a method": "{{ '{:>2000000000}'.format(1) }}",
    "long ends of lines": "{{ ('x ' * 4000000)|wordwrap(1, wrapstring='y' * 1000) }}",
    "many words": "{{ ('x ' * 30000000)|wordwrap(1) }}",
    "many links": "{{ ('http://x.y ' * 3000000)|urlize }}",
    "long margins": "{{ ('x\n' * 3000000)|indent(1000) }}",
    "a long separator": "{{ ([1] * 300000)|join('x' * 1000) }}",
    "replacing": "{{ ('x' * 9000000)|replace('x', 'y' * 1000) }}",
    "translating": "{{ ('x' * 9000000).translate({120: 'y' * 1000}) }}",
    "many groups": "{{ [1]|slice(10**8, 0)|list|length }}",
    "many wide fields": "{{ range(99999)|map('string')|map('center', 10**5)|join|length }}",
    "much output": "{% for i in range(99999) %}{{ 'x' * 10**5 }}{% endfor %}",
    "much output of a block": "{% set x = 'x' * 10**5 %}{% set a %}{% for i in range(99999) %}"
    "{{ x }}{% endfor %}{% endset %}{{ a|length }}",
    "a macro of itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "brackets within brackets": f"{{{{ {'(' * 9999}1{')' * 9999} }}}}",
    "lists within lists": "{% set a = [1] * 1000 %}{% set b = [a] * 1000 %}{{ [b] * 1000 }}",
    "lists that are written out": "{% set a = [1, 1, 1, 1, 1, 1, 1, 1] %}"
    + "".join(f"{{% set a = [{', '.join('a' * 8)}] %}}" for _ in range(8))
    + "{{ a }}",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_it_ends_in_one_sentence(name: str) -> None:
    with pytest.raises(TemplateError, match=r"^the prompt of score_order: ") as caught:
        compile_prompt(ENDLESS[name], "the prompt of score_order")()
    assert "\n" not in str(caught.value)


class Slow:
    """A text that waits, as everything does on a busy machine."""

    def __str__(self) -> str:
        time.sleep(0.1)
        return "x"


def test_waiting_is_no_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "LONGEST_S", 0.05)
    assert compile_prompt("{{ a ~ a }}{{ a ~ a }}", "it")(a=Slow()) == "xxxx\n"
    with pytest.raises(TemplateError, match="computes for longer than"):
        compile_prompt(ENDLESS["loops within each other"], "it")()


def test_what_a_prompt_needs_is_allowed() -> None:
    source = (
        "{% for word in words %}{{ loop.index }}/{{ loop.length }} "
        "{{ word ~ '!' ~ 1 }} {% endfor %}"
        "{% for k, v in pairs.items() %}{{ k }}={{ v * 3 }}{% endfor %}{{ '-' * 20 }}{{ 2 ** 8 }}"
        "{% for n in range(3) if n %}{{ n }}{% else %}none{% endfor %}"
    )
    text = compile_prompt(source, "it")(words=["a", "b"], pairs={"x": "y"})
    assert text == f"1/2 a!1 2/2 b!1 x=yyy{'-' * 20}25612\n"

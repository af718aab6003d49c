"""A user's template that computes without end is refused in one sentence."""

import pytest

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
}


@pytest.mark.parametrize("name", ENDLESS)
def test_it_ends_in_one_sentence(name: str) -> None:
    with pytest.raises(TemplateError, match=r"^the prompt of score_order: ") as caught:
        compile_prompt(ENDLESS[name], "the prompt of score_order")()
    assert "\n" not in str(caught.value)


def test_what_a_prompt_needs_is_allowed() -> None:
    source = (
        "{% for word in words %}{{ loop.index }}/{{ loop.length }} "
        "{{ word ~ '!' ~ 1 }} {% endfor %}"
        "{% for k, v in pairs.items() %}{{ k }}={{ v * 3 }}{% endfor %}{{ '-' * 20 }}{{ 2 ** 8 }}"
        "{% for n in range(3) if n %}{{ n }}{% else %}none{% endfor %}"
    )
    text = compile_prompt(source, "it")(words=["a", "b"], pairs={"x": "y"})
    assert text == f"1/2 a!1 2/2 b!1 x=yyy{'-' * 20}25612\n"

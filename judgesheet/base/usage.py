"""What the token counts of replies tell, and whether they can be believed."""

from math import ceil

CHARACTERS_PER_TOKEN = 3.0
"""Of a text whose tokens nobody counted; more tokens than most texts have, so that no limit of the
user's is overrun."""
CHARACTERS_PER_TOKEN_AT_MOST = 40
"""A token stands for fewer characters, so that a count that gives it more is no count."""
FEWEST_CUT = 5
"""Prompts with the same count that make a suspicion."""
FEWEST_LENGTHS = 3
"""Lengths among them: an item in other orders is as long, and has as many tokens."""
LONGER = 1.2
"""How much longer a prompt is than what so many tokens are, where that is no chance."""


def tokens_of(stated: int | None, characters: int) -> int:
    """So many tokens as an endpoint told, or by the characters where it told nothing plausible."""
    is_plausible = bool(stated) and (stated or 0) * CHARACTERS_PER_TOKEN_AT_MOST >= characters
    return stated or 0 if is_plausible else ceil(characters / CHARACTERS_PER_TOKEN)


class PromptSizes:
    """Prompts in characters and in the tokens that the endpoint counted: did it cut the long ones?

    A server with a small context window drops what does not fit, answers, and counts as many tokens
    for each long prompt as its window has.
    """

    def __init__(self) -> None:
        self._most = 0
        self._with_most: set[str] = set()
        """The prompts that have the most tokens."""
        self._lengths: set[int] = set()
        """Their characters."""
        self._others: dict[int, int] = {}
        """Characters -> tokens of all others."""

    def add(self, prompt: str, characters: int, tokens: int | None) -> None:
        """Register an answered prompt; a count of 0 or none tells nothing."""
        if not tokens:
            return
        if tokens > self._most:
            self._others |= dict.fromkeys(self._lengths, self._most)
            self._most, self._with_most, self._lengths = tokens, set(), set()
        if tokens == self._most:
            self._with_most.add(prompt)
            self._lengths.add(characters)
        else:
            self._others[characters] = tokens

    @property
    def window(self) -> int | None:
        """The tokens that the server cut its prompts to; None where nothing suggests that.

        Several prompts share the largest count, and one of them is longer than another by more than
        chance, or than so many tokens are in the shorter prompts. Without any shorter prompt of
        fewer tokens the count may be a constant, and counts that fall may be a cache's.
        """
        if len(self._with_most) < FEWEST_CUT or len(self._lengths) < FEWEST_LENGTHS:
            return None
        shortest, longest = min(self._lengths), max(self._lengths)
        whole = [length / tokens for length, tokens in self._others.items() if length < shortest]
        if not whole:
            return None
        return self._most if longest > LONGER * min(shortest, max(whole) * self._most) else None

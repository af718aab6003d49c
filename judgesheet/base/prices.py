"""What tokens cost."""

from typing import Annotated

from annotated_types import Ge

Price = Annotated[float, Ge(0)]
Prices = tuple[Price, Price]
"""US dollars per million tokens: of the prompts, of the replies."""


def cost(tokens_in: int | None, tokens_out: int | None, prices: Prices | None) -> float | None:
    """US dollars for so many tokens; None where the tokens or the prices are unknown."""
    if prices is None or tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * prices[0] + tokens_out * prices[1]) / 1e6

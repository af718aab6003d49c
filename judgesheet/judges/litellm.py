"""`litellm/MODEL`: every provider that LiteLLM knows, under the name that LiteLLM gives it.

LiteLLM carries the request and knows addresses and keys; all else is as with a judge behind HTTP.
It is asked to try once, to drop no parameter, and to load nothing from the network by itself.
"""

import importlib.util
import json
import os
from collections.abc import Mapping
from typing import Any, Self

from judgesheet.base.errors import MissingDependencyError
from judgesheet.base.records import Outcome
from judgesheet.judges import Connection
from judgesheet.judges.dialects import COMPATIBLE
from judgesheet.judges.http import Endpoint, HttpJudge
from judgesheet.judges.redaction import of_environment, secrets_in
from judgesheet.judges.transport import Received, Wire

ELSEWHERE = "https://litellm.invalid"
"""Stands for an address that LiteLLM knows and we do not; nothing is sent there."""
CODES = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_filter",
}
"""LiteLLM's names of faults that concern one call alone, as OpenAI's API calls them."""


class LitellmJudge(HttpJudge):
    """A chat model that LiteLLM asks."""

    @classmethod
    def from_name(cls, name: str, connection: Connection) -> Self:
        """The model that LiteLLM calls by this name; MissingDependencyError without LiteLLM."""
        if importlib.util.find_spec("litellm") is None:
            raise MissingDependencyError(
                f"litellm/{name} is asked by LiteLLM: pip install 'judgesheet[litellm]'"
            )
        key = connection.api_key_env
        address = connection.base_url or ELSEWHERE
        endpoint = Endpoint("litellm", name, address, COMPATIBLE, key, needs_key=key is not None)
        return cls(endpoint, connection)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Provider and model, and the address where the user gave one."""
        known = super().identity
        return {**known, "base_url": known["base_url"] if self._connection.base_url else None}

    async def __aenter__(self) -> Self:
        key = self._credentials().get("Authorization", "").removeprefix("Bearer ")
        secrets = [key, *self._address.secrets, *secrets_in(self._connection.extra_body)]
        self._redacted = of_environment(secrets)  # LiteLLM finds most keys there
        self._wire = _Carried({"api_key": key or None, "api_base": self._connection.base_url})
        return self

    def advise(self, outcome: Outcome) -> str | None:
        """What to do about an outcome."""
        if outcome == "unauthorized" and not self._endpoint.key_env:
            return "set the key in the variable that LiteLLM's documentation names for it"
        if outcome in {"not_found", "rejected", "unavailable"}:
            return f"check that LiteLLM knows the model {self._endpoint.model!r}"
        return super().advise(outcome)


class _Carried(Wire):
    """Posts the body of a chat completion by way of LiteLLM."""

    def __init__(self, connection: Mapping[str, str | None]) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded
        try:
            import litellm
        except ImportError as error:
            raise MissingDependencyError(
                f"LiteLLM does not load here ({error}): pip install 'judgesheet[litellm]'"
            ) from None

        litellm.suppress_debug_info = True
        litellm.telemetry = False  # else it tells its makers
        # Else it leaves out what a provider refuses, and no sheet would say so.
        litellm.drop_params = False
        self._complete = litellm.acompletion
        self._connection = connection

    async def post(self, body: bytes) -> Received:
        """The completion, or LiteLLM's exception, as the response of a server."""
        try:
            response = await self._complete(**json.loads(body), **self._connection, max_retries=0)
            return Received(200, {}, response.model_dump_json(), complete=True)
        except Exception as error:  # of any provider's own client
            return _failed(error)

    async def aclose(self) -> None:
        """Close nothing: LiteLLM keeps its connections for the process."""


def _failed(error: Exception) -> Received:
    """An exception as the response that it was made of, or of a server that failed."""
    kind = type(error).__name__
    told = {
        "message": str(error),
        "type": kind,
        "code": CODES.get(kind, getattr(error, "code", None)),
        "param": getattr(error, "param", None),
    }
    status = getattr(error, "status_code", None)
    headers = dict(getattr(getattr(error, "response", None), "headers", None) or {})
    known = status if isinstance(status, int) and 400 <= status < 600 else 502
    return Received(known, headers, json.dumps({"error": told}, default=str), complete=True)

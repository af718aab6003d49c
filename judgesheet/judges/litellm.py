"""`litellm/MODEL`: every provider that LiteLLM knows, under the name that LiteLLM gives it.

LiteLLM carries the request and knows addresses and keys; all else is as with a judge behind HTTP.
It is asked to try once, to drop no parameter, and to load nothing from the network by itself.
"""

import importlib.util
import json
import os
from collections.abc import Mapping
from typing import Any, Self

import httpx

from judgesheet.base.errors import MissingDependencyError, UsageError
from judgesheet.base.records import Reply
from judgesheet.judges import Connection
from judgesheet.judges.dialects import COMPATIBLE, mend_of
from judgesheet.judges.http import Endpoint, HttpJudge
from judgesheet.judges.redaction import of_environment

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
        if "stream" in connection.extra_body:
            raise UsageError(f"litellm/{name} answers whole: leave stream out of --extra-body")
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
        await super().__aenter__()
        self._redacted = of_environment(self._redacted.known)  # LiteLLM finds most keys there
        return self

    def _transport(self, _url: httpx.URL) -> httpx.AsyncBaseTransport:
        return _LitellmTransport(self._connection.base_url)

    def advise(self, reply: Reply) -> str | None:
        """What to do about a reply."""
        if reply.outcome == "unauthorized" and not self._endpoint.key_env:
            return "set the key in the variable that LiteLLM's documentation names for it"
        unclear = reply.outcome in {"not_found", "rejected", "unavailable"}
        if unclear and not mend_of(reply.outcome, reply.raw):
            return f"check that LiteLLM knows the model {self._endpoint.model!r}"
        return super().advise(reply)


class _LitellmTransport(httpx.AsyncBaseTransport):
    """Has LiteLLM put the question that a request holds, with the key that it holds, if any."""

    def __init__(self, base_url: str | None) -> None:
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
        self._base_url = base_url

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The completion, or LiteLLM's exception, as the response of a server.

        LiteLLM keeps its connections for the process, so none is closed.
        """
        key = request.headers.get("Authorization", "").removeprefix("Bearer ") or None
        known = {"api_key": key, "api_base": self._base_url, "max_retries": 0}
        try:
            response = await self._complete(**json.loads(request.content), **known)
        except Exception as error:  # of any provider's own client
            return _failed(error)
        return httpx.Response(200, content=response.model_dump_json())


def _failed(error: Exception) -> httpx.Response:
    """An exception as the response that it was made of, or of a server that failed."""
    kind = type(error).__name__
    fields = {
        "message": str(error),
        "type": kind,
        "code": CODES.get(kind, getattr(error, "code", None)),
        "param": getattr(error, "param", None),
    }
    status = getattr(error, "status_code", None)
    headers = dict(getattr(getattr(error, "response", None), "headers", None) or {})
    own = {name: value for name, value in headers.items() if not name.lower().startswith("content")}
    known = status if isinstance(status, int) and 400 <= status < 600 else 502
    return httpx.Response(known, headers=own, content=json.dumps({"error": fields}, default=str))

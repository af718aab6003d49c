"""`--auth oauth:factory`: tokens of OAuth client credentials, renewed before they expire.

For Azure AD (Entra ID):

    OAUTH_TOKEN_URL=https://login.microsoftonline.com/TENANT/oauth2/v2.0/token
    OAUTH_SCOPE=https://cognitiveservices.azure.com/.default
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator

import httpx

EARLY_S = 60
"""A token is renewed so long before it expires: a request may be under way for a while."""


class ClientCredentials(httpx.Auth):
    """Fetches a token with the first request, and a new one when the old one is about to expire."""

    def __init__(self, url: str, client_id: str, client_secret: str, scope: str) -> None:
        self._url = url
        self._form = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": client_secret,
            "scope": scope,
        }
        self._token = ""
        self._renew_at = 0.0
        self._lock = asyncio.Lock()  # requests that find it expired wait for one new token

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Send the request with a valid token; once more with a new one if it is refused."""
        async with self._lock:
            if time.monotonic() >= self._renew_at:
                self._keep((yield self._token_request()))
        used = self._token
        request.headers["Authorization"] = f"Bearer {used}"
        response = yield request
        if response.status_code != 401:
            return
        async with self._lock:
            if self._token == used:  # nobody else has renewed it meanwhile
                self._keep((yield self._token_request()))
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request

    def _token_request(self) -> httpx.Request:
        return httpx.Request("POST", self._url, data=self._form)

    def _keep(self, response: httpx.Response) -> None:
        response.raise_for_status()
        answer = response.json()
        self._token = answer["access_token"]
        self._renew_at = time.monotonic() + int(answer.get("expires_in", 3600)) - EARLY_S


def factory() -> httpx.Auth:
    """The authentication of one session, from the environment."""
    return ClientCredentials(
        os.environ["OAUTH_TOKEN_URL"],
        os.environ["OAUTH_CLIENT_ID"],
        os.environ["OAUTH_CLIENT_SECRET"],
        os.environ.get("OAUTH_SCOPE", ""),
    )

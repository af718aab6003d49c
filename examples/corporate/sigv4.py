"""`--auth sigv4:factory`: every request signed for AWS (Signature Version 4).

botocore finds the credentials where the AWS command line does, and renews those of a role.
"""

import os
from collections.abc import Generator

import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.session import get_session


class SigV4(httpx.Auth):
    """Signs the body of each request as it is."""

    requires_request_body = True

    def __init__(self, service: str, region: str) -> None:
        self._credentials = get_session().get_credentials()
        if self._credentials is None:
            raise RuntimeError("there are no AWS credentials: set AWS_PROFILE, or log in")
        self._service = service
        self._region = region

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send the request with the signature in its headers."""
        signed = AWSRequest(
            request.method,
            str(request.url),
            data=request.content,
            headers={"Content-Type": request.headers["Content-Type"]},
        )
        now = self._credentials.get_frozen_credentials()
        SigV4Auth(now, self._service, self._region).add_auth(signed)
        request.headers.update(dict(signed.headers))
        yield request


def factory() -> httpx.Auth:
    """The signer of one session, from the environment."""
    return SigV4(os.environ.get("AWS_SERVICE", "bedrock"), os.environ["AWS_REGION"])

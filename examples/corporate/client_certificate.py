"""`--auth client_certificate:factory`: a gateway that wants a client certificate (mutual TLS)."""

import os
import ssl

import httpx

from judgesheet import HttpTransport


def factory() -> httpx.AsyncBaseTransport:
    """A transport that shows the certificate, and trusts the authority of the gateway."""
    context = ssl.create_default_context(cafile=os.environ["GATEWAY_CA_FILE"])
    context.load_cert_chain(os.environ["CLIENT_CERT_FILE"], os.environ["CLIENT_KEY_FILE"])
    return HttpTransport(ssl_context=context)

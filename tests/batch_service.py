"""What a batch service does: it sends every request of a file to a server and keeps the results.

`python -m tests.batch_service REQUESTS BASE_URL RESULTS RESULTS`: all but the last, in two files.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

Line = dict[str, Any]


def requests_in(file: Path) -> list[Line]:
    """The requests of a file, in whichever format."""
    text = file.read_text(encoding="utf-8")
    if text.startswith('{"requests"'):
        requests: list[Line] = json.loads(text)["requests"]
        return requests
    return [json.loads(line) for line in text.splitlines()]


def answered(requests: list[Line], base_url: str) -> Iterator[Line]:
    """The results of requests, each in the format of its request."""
    for request in requests:
        name = request["custom_id"]
        if "params" in request:
            status, body = _post(f"{base_url}/messages", request["params"])
            result = {"type": "succeeded", "message": body}
            if status != 200:
                result = {"type": "errored", "error": {"type": "error", **body}}
            yield {"custom_id": name, "result": result}
        else:
            assert request["url"] == "/v1/chat/completions"
            status, body = _post(f"{base_url}/chat/completions", request["body"])
            response = {"status_code": status, "request_id": f"r-{name}", "body": body}
            yield {"id": f"b-{name}", "custom_id": name, "response": response, "error": None}


def write_results(file: Path, lines: list[Line]) -> Path:
    """A file of results, as a service gives it."""
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def _post(url: str, body: Line) -> tuple[int, Any]:
    try:
        asked = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(asked, timeout=100) as response:
            return 200, json.load(response)
    except HTTPError as error:
        return error.code, json.load(error)


if __name__ == "__main__":
    questions, service, *files = sys.argv[1:]
    done = list(answered(requests_in(Path(questions))[:-1], service))
    for part, name in enumerate(files):
        write_results(Path(name), done[part :: len(files)])

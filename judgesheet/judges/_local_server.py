"""A process that serves one GGUF model over HTTP on this machine, for `judges.local`.

    python -m judgesheet.judges._local_server MODEL.gguf CONTEXT_TOKENS

Prints its address on one line of standard output when it is ready, and ends when its standard input
is closed: however its parent ends, `kill -9` included, no process is left behind.
"""

import os
import sys
import threading
from pathlib import Path


def serve(model: Path, context: int) -> None:
    """Serve until standard input is closed; never returns."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The runtime may print; the line with the address must be the only one in the pipe.
    answers = os.dup(1)
    os.dup2(2, 1)

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {model.name}  # what replies name it; a path would tell whose machine it is
    params.n_ctx = context
    # One slot keeps one prefix warm: calls that share it are several times faster in sequence.
    params.n_parallel = 1
    params.cache_prompt = True
    params.cache_ram_mib = 0  # gigabytes otherwise, for prefixes that never come back
    params.port = 0  # the system picks a free one, so nobody can take it in between
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1
    server = xllamacpp.Server(params)
    os.write(answers, f"{server.listening_address}\n".encode())
    threading.Event().wait()


def _end_with_parent() -> None:
    # The raw descriptor: a buffered reader would hold a lock that interpreter shutdown wants.
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))

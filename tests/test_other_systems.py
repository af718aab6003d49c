"""The package loads and measures where modules and calls of Unix are missing, as on Windows."""

import subprocess
import sys
from pathlib import Path

# The libraries are loaded first: they know their systems themselves.
WITHOUT_UNIX = """
import builtins, os, pkgutil, signal, sys
from importlib import import_module

def load_all():
    import judgesheet
    for one in pkgutil.walk_packages(judgesheet.__path__, "judgesheet."):
        if not one.name.endswith("__main__"):
            import_module(one.name)

load_all()
for name in [name for name in sys.modules if name.partition(".")[0] == "judgesheet"]:
    del sys.modules[name]
for module, names in {
    os: ["O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "getuid", "geteuid", "posix_fallocate", "umask",
         "fork", "killpg", "sysconf", "statvfs"],
    signal: ["setitimer", "SIGPROF", "SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE"],
}.items():
    for name in names:
        delattr(module, name)
found = builtins.__import__

def missing(name, where=None, *what, **how):
    ours = str((where or {}).get("__name__")).partition(".")[0] == "judgesheet"
    if ours and name in {"resource", "fcntl", "pwd", "grp", "termios", "syslog"}:
        raise ImportError(name)
    return found(name, where, *what, **how)

builtins.__import__ = missing
load_all()
from judgesheet import probe
how = {"axes": ["score_order"], "profile": "smoke", "pdf": False, "cases": False}
run = probe("sim/fair", out=sys.argv[1], **how)
print(run.datasheet.axes[0].answered)
"""


def test_nothing_of_unix_is_needed(tmp_path: Path) -> None:
    words = [sys.executable, "-c", WITHOUT_UNIX, str(tmp_path / "run")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) > 0

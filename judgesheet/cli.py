"""The command line: the group of all commands, and how their failures end."""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any

import click

import judgesheet
from judgesheet import commands
from judgesheet.base.errors import JudgesheetError, is_interrupt
from judgesheet.base.resources import OUT_OF_MEMORY, is_out_of_memory
from judgesheet.base.sanitize import complaint
from judgesheet.commands.progress import working
from judgesheet.commands.terminal import say

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in a shell: 128 and the number of SIGINT."""

# Before click 8.2 the help that is printed without a command is no error.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())


@contextmanager
def _wrong_use_in_one_sentence() -> Iterator[None]:
    """Click would print the usage, too, and quote what the user wrote as it is."""
    try:
        yield
    except _HELP:  # its message has many lines
        raise
    except click.ClickException as error:
        said = error.format_message().rstrip(".")
        of = getattr(error, "ctx", None)
        more = f" (`{of.command_path} --help`)" if of is not None else ""
        say(complaint(f"judgesheet: {said}{more}"), err=True)
        raise click.exceptions.Exit(error.exit_code) from None


@contextmanager
def _interrupted_in_one_sentence() -> Iterator[None]:
    """Ctrl-C ends as in a shell; click would say "Aborted!" and end as a failure does."""
    try:
        yield
    except (KeyboardInterrupt, RuntimeError) as error:
        if not is_interrupt(error):
            raise
        say("judgesheet: interrupted; the same command resumes the run", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


class CommandGroup(click.Group):
    """A group that turns our own failures into one sentence and an exit code, in one place."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """The options of the group, and the command's name."""
        with _interrupted_in_one_sentence():
            return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The options before a command."""
        with _wrong_use_in_one_sentence():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; JudgesheetError exits 1, 2 or 5, Ctrl-C and SIGTERM 130, a bug 1."""
        try:
            with _interrupted_in_one_sentence(), _wrong_use_in_one_sentence():
                # Python takes signals in the main thread alone.
                if current_thread() is main_thread():
                    _hear_signals()
                with working("working"):
                    return super().invoke(ctx)
        # Click prints these itself.
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except JudgesheetError as error:
            say(complaint(f"judgesheet: {error}"), err=True)
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            # The reader of our output closed the pipe (`| head`): stop quietly, as other tools do.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(1)
        except Exception as error:
            if is_out_of_memory(error):
                say(f"judgesheet: {OUT_OF_MEMORY}", err=True)
            else:
                _say_unforeseen(error)
            ctx.exit(1)


def _hear_signals() -> None:
    """Batch systems end a job with SIGTERM: what has arrived is saved as after Ctrl-C.

    A script starts what it runs in the background with Ctrl-C ignored, which would then be true of
    SIGTERM, too.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


def _say_unforeseen(error: Exception) -> None:
    if isinstance(error, OSError):
        what = f"{error.filename}: " if error.filename else ""
        more = "; allow more (`ulimit -n 256`), then run the same again"
        advice = more if error.errno in (errno.EMFILE, errno.ENFILE) else ""
        say(f"judgesheet: {what}{error.strerror or error}{advice}", err=True)
        return
    from judgesheet.commands.crash_report import lines

    for line in lines(error):
        say(line, err=True)


def _say_version(ctx: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    """Looked up only where it is asked for: an installed package reads its metadata for it."""
    if is_asked:
        say(f"judgesheet, version {judgesheet.__version__}")
        ctx.exit()


@click.group(
    cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False,
              callback=_say_version, help="Show the version and exit.")  # fmt: skip
def main() -> None:
    """Measure an LLM judge before anyone trusts it.

    A judge is asked the same questions in orders that should make no difference. Its replies give a
    datasheet: every number with its interval, as JSON, HTML and PDF.
    """


for name in commands.NAMES:
    main.add_command(commands.find(name))

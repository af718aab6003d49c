"""`python -m judgesheet` is `judgesheet`."""

from judgesheet.cli import main

main(prog_name="judgesheet")

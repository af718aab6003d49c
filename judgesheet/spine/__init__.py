"""The spine: plan, collect, measure, assemble, render, gate.

Every module says in its first line which of these six stages it is, or is for;
docs/decisions/0001-layout.md lists them.
"""

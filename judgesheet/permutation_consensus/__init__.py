"""Decide a user's own candidate sets so that their order does not: the mitigations as a command.

`sets` reads them; `lists` asks of three and more under several orders (permutation consensus), and
`pairs` of two in both, with a keyed pass where those disagree (paper 004); `rounds` asks until no
reply gives rise to another question; `decision` and `summary` say what came out; `command` is all
of that. Every question is a call of a ledger. Which calls come next follows from the replies alone,
so an interrupted run goes on where it was, and asks nothing twice.

This package knows two axes by name: it does not measure whatever axes there are, it applies these
two prompts.
"""

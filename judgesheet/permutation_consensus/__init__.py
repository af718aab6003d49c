"""Decide a user's own candidate sets independently of their order: the mitigations as a tool.

`sets` reads them. Lists of three and more go through permutation consensus (`lists`), sets of two
through both orders and a comparison that shows the judge its own answer (`pairs`, `keyed`; paper
004). `rounds` plans and asks: every question is a call of a ledger, and which calls come next
follows from the replies alone, so an interrupted run resumes where it was and repeats no answered
call. `decision` is the result per set, `summary` per run; `command` combines them.

Two axes are known by name here: their prompts and parsers are applied, nothing is measured.
"""

"""Results of a user's own evaluation, with the errors of the judge in them.

`table` reads verdicts and labels, `words` says what a cell is worth, `pairs` makes one value of the
calls on a pair. `labelled` corrects by labels, `unlabelled` says what follows from the design and a
datasheet alone, `contests` ranks systems that met in pairs, `leaderboard` compares systems,
`labelling` says which labels are worth their price. `result` is what comes out, and `run` calls the
stages in turn. Nothing here prints; `sheet.correction` does.
"""

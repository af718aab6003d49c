"""Datasheets of judges on which a sheet could lie, each beside the decision that would be right.

`judges` declares them and why, `run` makes them by the command line, `served` answers those that an
endpoint's behaviour is part of, `pictures` renders what a person looks at.
"""

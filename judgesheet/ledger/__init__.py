"""The ledger: every call and every reply of a run in one SQLite file, and the folder it lies in."""

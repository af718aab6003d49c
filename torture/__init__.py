"""What becomes of money, replies and files when everything around a run goes wrong.

Nothing here is part of the package: real processes, a real server and real files, and the table in
docs/reliability.md of what was counted.
"""

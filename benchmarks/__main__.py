"""Size and collecting, one after the other; nothing is asserted. Run by `make bench`.

Figures are of the machine that runs it: compare them within one run, not with another machine's.
"""

from benchmarks import collecting, size

if __name__ == "__main__":
    size.main()
    collecting.main()

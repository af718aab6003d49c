"""What every stage uses: records, keys, errors, files, units. It imports no other folder."""

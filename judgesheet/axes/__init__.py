"""The rooms: one axis of bias, one file (or folder) each; `all_axes` lists them."""

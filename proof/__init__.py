"""Slow simulations that show the instrument works; their tables are committed in docs/proof."""

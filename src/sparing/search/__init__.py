"""Local search over supports: descents by swaps, iterated local search, truncated power."""

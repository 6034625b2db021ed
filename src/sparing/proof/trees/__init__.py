"""Branch and bound over supports."""

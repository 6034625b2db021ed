"""The explorer page: one self-contained HTML file."""

"""Results for people: sentences, plots, the explorer page and the command line."""

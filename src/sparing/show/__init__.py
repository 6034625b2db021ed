"""Output for people: wording, plots, the explorer page and the command line."""

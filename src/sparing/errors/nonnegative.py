"""What can be wrong with a search for nonnegative components."""

from __future__ import annotations


def too_many_sets(rank: int, n_features: int, n_sets: int, max_sets: int) -> ValueError:
    """More sets of features that may tie than are looked at."""
    return ValueError(
        f"Spannogram(rank={rank}) would look at {n_sets:.3g} sets of features: of {n_features} too many may belong to "
        f"the best component. max_sets={max_sets} are allowed. Pass a lower rank or a larger max_sets, or use "
        f"solver='spannogram_net' or 'auto'."
    )


def too_many_draws(rank: int, accuracy: float, draws: int, limit: int) -> ValueError:
    """An accuracy that random directions reach too seldom."""
    return ValueError(
        f"SpannogramNet(rank={rank}, accuracy={accuracy:g}) needs {float(draws):.3g} random directions; {limit} are "
        f"allowed. Pass a lower rank or a larger accuracy, or use solver='spannogram', which is exact."
    )


def negative_loadings(solver: object) -> ValueError:
    """A solver that does not keep the sign."""
    return ValueError(
        f"solver={solver!r} returned negative loadings. NonnegativeSparsePCA takes solvers whose loadings are all at "
        f"least zero: one of those that it names, or your own."
    )

"""Texts of warnings: the answer is valid, but not quite what was asked for."""

from __future__ import annotations


def fewer_components(asked: int, got: int, why: str) -> str:
    """Fewer components than asked for."""
    return f"n_components={asked} was asked for, but {why}: {got} component(s) are returned."


def not_proved(why: str) -> str:
    """The best found is returned, but nothing proves it the best possible."""
    return f"The features returned are the best found, but not proved to be the best possible: {why}."


def max_loss_missed(reached: float, asked: float, n_features: int) -> str:
    """The loss asked for was not reached."""
    return (
        f"max_loss={asked:g} was not reached: {n_features} feature(s) lose {reached:.4g} times what PCA loses. Further "
        f"features add nothing that double precision can tell, or time_limit ended the search, or it was one in few "
        f"passes, which goes no further than about 100 features (passes='any' does)."
    )


def spectrum_not_converged(relative_error: float) -> str:
    """The eigenvalue iteration stopped at its cap."""
    return (
        f"The principal components converged only to {relative_error:.1e} of PCA's loss; the loss ratio is overstated "
        f"by at most that much. The spectrum is nearly flat there: another n_components may separate it."
    )


def looks_precomputed() -> str:
    """A symmetric table where samples are expected."""
    return (
        "X is symmetric, as covariances and correlations are, and is taken for samples. If it holds covariances or "
        "correlations pass precomputed=True."
    )


def capped(name: str, asked: int, limit: int, things: str) -> str:
    """More wanted than there is, by a parameter that is harmless to cut."""
    return f"{name}={asked} was asked for, but X has {limit} {things}: no more can be kept."


def fewer_features(asked: int, got: int) -> str:
    """The features found say all that any features can say."""
    return (
        f"n_features_to_select={asked} was asked for, but {got} feature(s) already give what PCA gives, or the others "
        f"depend on them: {got} are kept. A larger n_components asks for more of X."
    )


def turns_not_converged(max_iter: int, change: float) -> str:
    """An alternation stopped at its cap."""
    return (
        f"After max_iter={max_iter} turns the loadings still changed by {change:.1e}. They are those of the last turn; "
        f"a larger max_iter or ridge lets them settle."
    )

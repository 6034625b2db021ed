"""What can be wrong with a clustering, and what is said about one that is not quite what was asked for."""

from __future__ import annotations

from collections.abc import Iterable

from sparing.errors.kinds import listed


def not_finite(value: float, row: int, feature: object, missing: bool) -> ValueError:
    """NaN or infinity among the values; where NaN is welcome only infinity is refused."""
    name = "NaN" if value != value else "infinity"
    advice = (
        "Mark values that are not known by NaN: pairs of samples are then compared by the features that both have."
        if missing
        else "Drop those rows, impute them with sklearn.impute.SimpleImputer, or use SparseHierarchicalClustering, "
        "which compares pairs of samples by the features that both have."
    )
    return ValueError(f"Input X contains {name} (first at row {row}, feature {feature!r}). {advice}")


def unit_out_of_range(size: float) -> ValueError:
    """Squares of the values would leave the range of double precision."""
    return ValueError(
        f"X holds values of size {size:.3g}; dissimilarities are sums of their squares, and leave the range of double "
        f"precision. Change the unit of the data (multiply it by a constant) to values between 1e-140 and 1e+140."
    )


def one_sample() -> ValueError:
    """Nothing to be told apart."""
    return ValueError("X has n_samples=1; clusters need at least 2 samples. Pass more rows.")


def nothing_varies() -> ValueError:
    """All samples are alike."""
    return ValueError(
        "X has no feature in which two samples differ: every feature is constant (or its values are missing), so no "
        "feature can separate clusters. Check that the right rows and columns were passed."
    )


def nothing_in_common() -> ValueError:
    """No two samples have known values of the same feature."""
    return ValueError(
        "No two samples have a feature for which both values are known, so nothing says how far apart they are. Impute "
        "missing values with sklearn.impute.SimpleImputer, or check that the right rows and columns were passed."
    )


def bad_n_clusters(value: object, n_samples: int) -> ValueError:
    """A number of clusters that cannot be."""
    return ValueError(
        f"n_clusters={value!r}, but X has {n_samples} samples. Pass an integer between 1 and {n_samples}."
    )


def clusters_or_threshold(n_clusters: object, distance_threshold: object) -> ValueError:
    """Both or neither of two ways to cut a tree."""
    return ValueError(
        f"n_clusters={n_clusters!r} and distance_threshold={distance_threshold!r}: exactly one of them cuts the tree. "
        f"Pass n_clusters=None with a distance_threshold, or leave distance_threshold=None."
    )


def bad_threshold(value: object) -> ValueError:
    """A height that is none."""
    return ValueError(
        f"distance_threshold={value!r} must be a number of at least 0: clusters are not joined at or above it. Look at "
        f"distances_ of a fit with n_clusters=2 for heights of the tree."
    )


def bad_weight_bound(value: object, n_features: int) -> ValueError:
    """A bound that no weights or all weights keep."""
    return ValueError(
        f"weight_bound={value!r} must be a number between 1 (one feature) and sqrt(n_features) = {n_features**0.5:.4g} "
        f"(all features), 'auto' to choose it by permutations, or 'fewest' for fewer features that give the same "
        f"clusters. To say how many features are used pass n_features instead."
    )


def fewest_needs_clusters(n_clusters: object) -> ValueError:
    """Nothing that fewer features could agree on."""
    return ValueError(
        f"weight_bound='fewest' looks for few features that give the same clusters, which n_clusters={n_clusters!r} "
        f"does not say how many of. Pass n_clusters of at least 2, or weight_bound='auto'."
    )


def bad_n_features(value: object, n_features: int) -> ValueError:
    """More features wanted than vary."""
    return ValueError(
        f"n_features={value!r}, but X has {n_features} features that are not constant. Pass an integer between 1 and "
        f"{n_features}, or None to let weight_bound decide."
    )


def two_bounds(weight_bound: object, n_features: object) -> ValueError:
    """Two parameters that decide how many features are used."""
    return ValueError(
        f"weight_bound={weight_bound!r} and n_features={n_features!r} were both given; each decides how many features "
        f"are used. Leave weight_bound='auto' with n_features, or n_features=None with weight_bound."
    )


def bad_tolerance(name: str, value: object) -> ValueError:
    """A tolerance that is none."""
    return ValueError(f"{name}={value!r} must be a number of at least 0, such as 1e-6.")


def bad_difference(value: object, allowed: Iterable[object]) -> ValueError:
    """Neither a known name nor a function."""
    return ValueError(
        f"difference={value!r} is not known. Choose one of {listed(allowed)}, or pass a function f(a, b) of two "
        f"arrays that returns how far a and b are apart, entry by entry."
    )


def bad_own_dissimilarity(what: str) -> ValueError:
    """A user's function that is no dissimilarity."""
    return ValueError(
        f"The function passed as difference returned {what}. f(a, b) gets two arrays of values of a feature that "
        f"broadcast against each other, and must return finite numbers >= 0 in their broadcast shape, with "
        f"f(a, b) = f(b, a); for example lambda a, b: np.abs(a - b) ** 0.5."
    )


def linkage_needs_squares(linkage: str, difference: object) -> ValueError:
    """A linkage of centroids without centroids."""
    return ValueError(
        f"linkage={linkage!r} joins clusters by their centroids, which difference={difference!r} does not have. Use "
        f"difference='squared', or linkage 'average', 'complete', 'single' or 'weighted'."
    )


def nothing_complementary() -> ValueError:
    """One dissimilarity says all."""
    return ValueError(
        "complementary=True: nothing is left for a second clustering, since the dissimilarities of all features are "
        "proportional to those that the first is made of. Pass complementary=False."
    )


def weights_not_converged(n_iter: int, change: float, timed_out: bool) -> str:
    """An alternation stopped early."""
    cure = "a larger time_limit" if timed_out else "a larger max_iter or tol"
    return (
        f"After {n_iter} turns the feature weights still changed by {change:.1e} of their size. Those of the last turn "
        f"are returned, the best so far; {cure} lets them settle."
    )


def permutations_cut_short(done: int, wanted: int) -> str:
    """The time was up before all permutations were done."""
    config = "the bound is chosen from those" if done else "the bound in the middle of those tried is used"
    return (
        f"time_limit ended the search for weight_bound after {done} of {wanted} permutations; {config}. A larger "
        f"time_limit, fewer n_permutations, or a weight_bound of your own avoids this."
    )


def fewest_cut_short(bound: float) -> str:
    """The time was up before the fewest features were found."""
    return (
        f"time_limit ended the search for the fewest features; weight_bound={bound:.6g} is the smallest known to give "
        f"the same clusters. A larger time_limit may find a smaller one."
    )


def n_features_missed(wanted: int, got: int, bound: float, timed_out: bool) -> str:
    """No bound gives exactly that many, or none was found in time."""
    if timed_out:
        return (
            f"n_features={wanted} was asked for, but time_limit ended the search at weight_bound={bound:.6g}, which "
            f"uses {got}. A larger time_limit gets closer."
        )
    return (
        f"n_features={wanted} was asked for, but no bound gives exactly that many: weight_bound={bound:.6g} uses "
        f"{got}, and a slightly larger one more than {wanted}. Features that tie enter together."
    )


def clusters_not_converged(n_iter: int, timed_out: bool) -> str:
    """An alternation of clusters and weights stopped early."""
    cure = "a larger time_limit" if timed_out else "a larger max_iter"
    return (
        f"After {n_iter} turns samples still changed clusters. The best so far are returned; {cure} lets them settle."
    )


def fewer_clusters(wanted: int, got: int) -> str:
    """Too few different samples."""
    return (
        f"n_clusters={wanted} was asked for, but in the features used only {got} clusters of samples differ: {got} are "
        f"returned. A larger weight_bound or n_features tells more samples apart."
    )

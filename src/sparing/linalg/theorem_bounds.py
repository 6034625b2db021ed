"""Approximation guarantees of theorems, computed before an algorithm has run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sparing import errors
from sparing.results import Array


def dual_set_factor(n_components: int, n_columns: int) -> float:
    """Loss over PCA's loss that dual set selection never exceeds, for r > k [magdonismail2015, Theorem 6(i)]."""
    if n_columns <= n_components:
        return math.inf
    return 1.0 + 1.0 / (1.0 - math.sqrt(n_components / n_columns)) ** 2


def doubly_sparse_factor(n_components: int, n_columns: int, n_rows: int) -> float:
    """Loss over PCA's loss that dual set selection of columns and rows never exceeds, for more of both than k.

    What the columns keep is B = X_{C,k}, and B'(X - B) = 0, so projecting B on the span of the rows costs
    ||B - B P_R||^2 <= ||X - X P_R||^2 more: the sum of both factors [magdonismail2015, Theorem 6, comment 5].
    """
    return dual_set_factor(n_components, n_columns) + dual_set_factor(n_components, n_rows)


REVEALED = 1e-9
"""By how much rounding may lower a smallest singular value: that of equal loadings is 1 / sqrt(d) exactly."""


def rank_revealing_factor(rows: Array, n_features: int) -> float:
    """Loss over PCA's loss for columns that reveal the rank: k (d - k) + 1 [boutsidis2011, Sec. 3].

    With ``rows`` the rows of V_k (d x k) that belong to the chosen columns C = X S, of smallest singular value s > 0,
    P = S (V_k'S)^+ V_k' is a projection along directions, of norm 1/s, and so is I - P. As X P has rank k and lies in
    the span of C, ||X - X_{C,k}||^2 <= ||(X - X_k)(I - P)||^2 <= ||X - X_k||^2 / s^2. Some k columns have
    1/s^2 <= k (d - k) + 1: for those of largest volume no entry of V_k (V_k'S)^-1 exceeds 1, by Cramer's rule
    [gu1996]. Choices are called rank-revealing where theirs have, too.

    Returns
    -------
    float
        Infinite where these columns have not: then nothing is promised.
    """
    k = rows.shape[1]
    if len(rows) < k:
        return math.inf
    factor = (k * (n_features - k) + 1.0) * (1.0 + 2 * REVEALED)  # what rounding may have hidden counts against it
    smallest = float(np.linalg.svd(rows, compute_uv=False)[-1])
    return factor if factor * smallest**2 >= 1.0 else math.inf


def theorem_11_schedule(n_components: int, epsilon: float, *, uniform: bool = False) -> list[int]:
    """Features for each component in turn, r_j = 5 + ceil(5 j / epsilon) [magdonismail2015, Theorem 11].

    ``uniform`` gives every component the first one's count, 5 + ceil(5 / epsilon), as comment 2 there means (printed:
    5 + 5 k / epsilon).
    """
    _checked_epsilon(epsilon)
    return [5 + math.ceil(5 * (1 if uniform else j) / epsilon) for j in range(1, n_components + 1)]


def theorem_11_bound(values: Array, total: float, epsilon: float, *, uniform: bool = False) -> Array:
    """What the first 1, 2, .. k iterative components lose at most, in expectation [magdonismail2015, Theorem 11].

    Parameters
    ----------
    values : ndarray of shape (k,)
        The k largest eigenvalues of X'X, in falling order.
    total : float
        ||X||^2.
    epsilon : float
        That of :func:`theorem_11_schedule`.
    uniform : bool
        For the schedule that gives every component the same count (comment 2).

    Returns
    -------
    ndarray of shape (k,)
        (e l)^epsilon ||X - X_l||^2 + epsilon l^(1 + epsilon) ||X_l - X_1||^2 for l = 1 .. k; with ``uniform``,
        (1 + epsilon)^l ||X - X_l||^2 + epsilon/2 (1 + epsilon)^(l - 1) l ||X_l - X_1||^2.
    """
    _checked_epsilon(epsilon)
    count = np.arange(1, len(values) + 1)
    after_first = np.cumsum(values) - values[0]
    left = np.maximum(total - np.cumsum(values), 0.0)
    if uniform:
        growth = (1 + epsilon) ** count
        return np.asarray(growth * left + epsilon / 2 * growth / (1 + epsilon) * count * after_first)
    return np.asarray((math.e * count) ** epsilon * left + epsilon * count ** (1 + epsilon) * after_first)


def iterative_bound(values: Array, total: float, factors: Sequence[float]) -> Array:
    """What the first 1, 2, .. k iterative components lose at most, for any numbers of features and any selector.

    The recursion that [magdonismail2015, Theorem 11] sums up: the j-th component, chosen so that one component loses at
    most ``factors[j]`` times what the best one loses of the residual, leaves b_j = factors[j] (b_{j-1} - l_j), as some
    direction of the residual has the variance l_j at least; and never more than there was.

    Parameters
    ----------
    values : ndarray of shape (k,)
        The k largest eigenvalues of X'X, in falling order.
    total : float
        ||X||^2.
    factors : sequence of k floats
        1 + delta_j: what the selector promises for one component on as many features as the j-th reads.
    """
    losses, left = [], total
    for value, factor in zip(values, factors, strict=True):
        left = min(left, factor * max(left - float(value), 0.0)) if math.isfinite(factor) else left
        losses.append(left)
    return np.array(losses)


def _checked_epsilon(epsilon: float) -> None:
    if not epsilon > 0:
        raise errors.not_a_positive_number("epsilon", epsilon)


def best_split(n_components: int, n_columns: int) -> int:
    """How many of r > k + 1 columns the dual set should choose, so that ``adaptive_factor`` is smallest."""
    k, r = n_components, n_columns
    return min(range(k + 1, r), key=lambda first: dual_set_factor(k, first) / (r - first))


PROJECTED = 7 / 6
"""What the random projection of adaptive sampling may leave, in expectation, over what PCA leaves."""


def adaptive_factor(n_components: int, n_columns: int, accuracy: float = 1.0) -> float:
    """Expected loss over PCA's loss that adaptive sampling after a dual set never exceeds, for r > k.

    1 + (k/s) a (1 + 1/(1 - sqrt(k/r1))^2) for the best split r = r1 + s [magdonismail2015, Theorem 6(ii)], where
    ||X - XVV'||^2 = a ||X - X_k||^2 for the V used; or the dual set's own promise for r1 columns where that is smaller.
    """
    k, r = n_components, n_columns
    if r <= k + 1:
        return dual_set_factor(k, r) * accuracy
    first = best_split(k, r)
    constant = accuracy * dual_set_factor(k, first)
    return min(1.0 + k / (r - first) * constant, constant)


def two_sided_adaptive_factor(n_components: int, n_columns: int, n_rows: int, accuracy: float = 1.0) -> float:
    """Expected loss over PCA's that adaptive sampling of columns and rows never exceeds: 1 + O(k/c) + O(k/r).

    With B = X_{C,k} of rank k the rows R, s of them drawn by the residuals of X beside the dual set's R1, leave
    E ||X - B P_R||^2 <= ||X - B||^2 + (k/s) ||X - X P_{R1}||^2, whatever C is [magdonismail2015, Theorem 6, comment 5].
    """
    k, r = n_components, n_rows
    if r <= k + 1:
        rows = accuracy * dual_set_factor(k, r)
    else:
        first = best_split(k, r)
        rows = min(k / (r - first), 1.0) * accuracy * dual_set_factor(k, first)
    return adaptive_factor(k, n_columns, accuracy) + rows


def count_sketch_error(n_components: int, n_rows: int) -> float:
    """e = (k + 3 sqrt(k) + 1) sqrt(80 / m): how far a count sketch S of m rows is off, with probability 0.9.

    Then (1 - e) ||X - XP||^2 <= ||SX - SXP||^2 <= (1 + e) ||X - XP||^2 for every projection P of rank k at once, and
    the best V for SX has ||X - XVV'||^2 <= (1 + e)/(1 - e) ||X - X_k||^2. Let X = U_k S_k V_k' + E, Z = S_k V_k'(I-P),
    t = sqrt(80/m). Markov's inequality on E ||A'S'SB - A'B||_F^2 <= (2/m) ||A||^2 ||B||^2 gives, each with probability
    0.975: ||U_k'S'SU_k - I|| <= k t, ||U_k'S'SE|| <= sqrt(k) t ||E||, | ||SE||^2 - ||E||^2 | <= t ||E||^2 and
    ||E'S'SE - E'E|| <= t ||E||^2. The error is then k t ||Z||^2 + 2 sqrt(k) t ||Z|| ||E|| + (1 + sqrt(k)) t ||E||^2 at
    most, and ||X - XP||^2 is at least ||Z||^2 and at least ||E||^2.
    """
    k = n_components
    return (k + 3 * math.sqrt(k) + 1) * math.sqrt(80 / n_rows)


def count_sketch_rows(n_components: int, error: float) -> int:
    """The least m whose :func:`count_sketch_error` is at most ``error``."""
    return math.ceil(80 * ((n_components + 3 * math.sqrt(n_components) + 1) / error) ** 2)


def count_sketch_factor(n_components: int, n_columns: int, n_rows: int) -> float:
    """Loss over PCA's loss of dual set selection on a count sketch, with probability 0.9; infinite for few rows."""
    error = count_sketch_error(n_components, n_rows)
    return dual_set_factor(n_components, n_columns) * (1 + error) / (1 - error) if error < 1 else math.inf


@dataclass(frozen=True)
class SelectionPromise:
    """What a theorem says about a way to choose columns: its factor for k components on r of them, and how firmly."""

    words: str
    where: str
    factor: Callable[[int, int], float]
    two_sided: Callable[[int, int, int], float]
    chance: str | None = None  # "in expectation" or a probability, where there is any
    revealing: bool = False  # is the factor ``rank_revealing_factor``, of the columns themselves?


def _derandomised_on_both_sides(n_components: int, n_columns: int, n_rows: int) -> float:
    """As :func:`doubly_sparse_factor`, for the columns and the rows of derandomised adaptive sampling."""
    return adaptive_factor(n_components, n_columns) + adaptive_factor(n_components, n_rows)


PROMISES = {
    "dual_set": SelectionPromise("deterministic selection", "6(i)", dual_set_factor, doubly_sparse_factor),
    "derandomised": SelectionPromise(
        "derandomised adaptive sampling", "6(ii)", adaptive_factor, _derandomised_on_both_sides
    ),
    "adaptive": SelectionPromise(
        "adaptive sampling",
        "6(ii)",
        lambda k, r: adaptive_factor(k, r, PROJECTED),
        lambda k, c, r: two_sided_adaptive_factor(k, c, r, PROJECTED),
        chance="in expectation",
    ),
    "pivoted_qr": SelectionPromise(
        "pivoted QR", "Sec. 3", lambda k, r: math.inf, lambda k, c, r: math.inf, revealing=True
    ),
}
"""By the name that ``applicable_theorem`` gives a selector."""


def selection_promise(name: str | None) -> SelectionPromise | None:
    """The one of ``PROMISES``, or that of dual set selection on a count sketch: "count_sketch of 500 rows"."""
    named = re.fullmatch(r"count_sketch of (\d+) rows", name or "")
    if named is None:
        return PROMISES.get(name or "")
    n_rows = int(named[1])
    return SelectionPromise(
        f"dual set selection on a sketch of {n_rows} rows",
        "6",
        lambda k, r: count_sketch_factor(k, r, n_rows),
        lambda k, c, r: math.inf,
        "probability 0.9",
    )


def promise_in(claim: str) -> str | None:
    """The name of the promise that a claim speaks of."""
    if (sketch := re.search(r" by dual set selection on a sketch of (\d+) rows$", claim)) is not None:
        return f"count_sketch of {sketch[1]} rows"
    return next((name for name, kept in PROMISES.items() if claim.endswith(f" by {kept.words}")), None)


def approximation_factor(values: Array, n_features: int, n_nonzero: int, rank: int, *, shifted: bool = False) -> float:
    """The share of the optimum that the best x >= 0 for the ``rank`` leading eigenpairs keeps at least.

    max(k / 2n, 1 / (1 + 2 (n/k) l_{d+1} / l_1)) for k nonzeros of n features [asteris2014, Theorem 1]: the leading
    eigenvector alone has k / 2n of l_1 in the k largest entries of one sign, and the eigenpairs left out add at most
    l_{d+1}. With no positive eigenvalue left out nothing is lost.

    Parameters
    ----------
    values : ndarray of shape (k,)
        The leading eigenvalues of A in falling order: ``rank`` + 1 of them, or all that are positive.
    shifted : bool
        For the best x with these eigenvalues lowered by s = l_{d+1}. With O what it reaches there, OPT <= O + s, and
        its share P of the leading eigenvectors is at least O / (l_1 - s), so that x'Ax >= O + s P = O l_1 / (l_1 - s).
        With O >= (k/2n) (l_1 - s) this makes 1 / (1 + (2n/k - 1) s / l_1), never less than the theorem's.
    """
    share = n_nonzero / (2 * n_features)
    following = float(values[rank]) if len(values) > rank else 0.0
    if following <= 0:
        return 1.0
    if shifted:
        return 1 / (1 + (1 / share - 1) * following / float(values[0]))
    return max(share, 1 / (1 + following / (share * float(values[0]))))


def rounding_draws_needed(n_nonzero: int, accuracy: float, *, row_norm: float = 1.0) -> int:
    """Entries s for which a rounding loses at most ``accuracy``: 200 k / eps^2 [fountoulakis2016, Theorem 1].

    For the *global* optimum x of the relaxation |x|_2 <= 1, |x|_1 <= sqrt(k), which no solver is known to return, the
    rounding y of expected size s has y'Ay >= OPT - eps with probability 3/4, and |y|_2 <= 1 + 0.15 eps with
    probability 3/4. So no certificate cites it; it says how far s = k is from what is proved.

    Parameters
    ----------
    n_nonzero : int
        k, the entries that the best sparse vector may have.
    accuracy : float
        eps, in the units of A; at most ``row_norm``.
    row_norm : float
        The largest Euclidean norm of a row of A. The theorem is stated for 1; for others it speaks of A / ``row_norm``.

    Returns
    -------
    int
        The s of ``Rounding(draws=s, exact_count=False)``.
    """
    for name, value in (("accuracy", accuracy), ("row_norm", row_norm)):
        if not value > 0:
            raise errors.not_a_positive_number(name, value)
    if accuracy > row_norm:
        raise ValueError(
            f"accuracy={accuracy:g} is above row_norm={row_norm:g}: Theorem 1 is about errors up to the largest norm "
            "of a row of A. Pass a smaller accuracy."
        )
    return math.ceil(200 * n_nonzero * (row_norm / accuracy) ** 2)


def rank_needed(values: Array, n_features: int, n_nonzero: int, accuracy: float) -> int | None:
    """The least rank that loses no more than the share ``accuracy``, whatever A is besides its eigenvalues ``values``.

    This is what makes the search polynomial for every spectrum that falls to zero (the paper's PTAS), where
    n_nonzero / n_features is fixed. None where the values given do not fall far enough.
    """
    falling = np.maximum(values[1:], 0.0) / float(values[0]) if len(values) and values[0] > 0 else np.zeros(0)
    enough = np.flatnonzero(1 / (1 + 2 * n_features / n_nonzero * falling) >= 1 - accuracy)
    return int(enough[0]) + 1 if len(enough) else None

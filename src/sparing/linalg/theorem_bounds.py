"""Approximation guarantees of theorems, computed before an algorithm has run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sparing import errors
from sparing.results import Array, Premise


def dual_set_factor(n_components: int, n_columns: int) -> float:
    """Upper bound of loss / PCA's loss for dual set selection with r > k [magdonismail2015, Theorem 6(i)]."""
    if n_columns <= n_components:
        return math.inf
    return 1.0 + 1.0 / (1.0 - math.sqrt(n_components / n_columns)) ** 2


def doubly_sparse_factor(n_components: int, n_columns: int, n_rows: int) -> float:
    """Upper bound of loss / PCA's loss for dual set selection of more than k columns and more than k rows.

    The columns keep B = X_{C,k}, and B'(X - B) = 0, so projecting B on the span of the rows costs
    ||B - B P_R||^2 <= ||X - X P_R||^2 more: the sum of both factors [magdonismail2015, Theorem 6, comment 5].
    """
    return dual_set_factor(n_components, n_columns) + dual_set_factor(n_components, n_rows)


REVEALED = 1e-9
"""Rounding error allowed for a smallest singular value: that of equal loadings is exactly 1 / sqrt(d)."""


def rank_revealing_factor(rows: Array, n_features: int) -> float:
    """Upper bound of loss / PCA's loss for columns that reveal the rank: k (d - k) + 1 [boutsidis2011, Sec. 3].

    With ``rows`` the rows of V_k (d x k) that belong to the chosen columns C = X S, of smallest singular value s > 0,
    P = S (V_k'S)^+ V_k' is a projection along directions, of norm 1/s, and so is I - P. As X P has rank k and lies in
    the span of C, ||X - X_{C,k}||^2 <= ||(X - X_k)(I - P)||^2 <= ||X - X_k||^2 / s^2. Some k columns have
    1/s^2 <= k (d - k) + 1: for those of largest volume no entry of V_k (V_k'S)^-1 exceeds 1, by Cramer's rule
    [gu1996]. Columns that satisfy this, too, are called rank-revealing.

    Returns
    -------
    float
        Infinite if these columns are not rank-revealing, because there is no guarantee then.
    """
    k = rows.shape[1]
    if len(rows) < k:
        return math.inf
    factor = (k * (n_features - k) + 1.0) * (1.0 + 2 * REVEALED)  # rounding is counted against the columns
    smallest = float(np.linalg.svd(rows, compute_uv=False)[-1])
    return factor if factor * smallest**2 >= 1.0 else math.inf


def theorem_11_schedule(n_components: int, epsilon: float, *, uniform: bool = False) -> list[int]:
    """Number of features of each component, r_j = 5 + ceil(5 j / epsilon) [magdonismail2015, Theorem 11].

    ``uniform`` gives every component the count of the first one, 5 + ceil(5 / epsilon), as intended in comment 2 there
    (printed: 5 + 5 k / epsilon).
    """
    _checked_epsilon(epsilon)
    return [5 + math.ceil(5 * (1 if uniform else j) / epsilon) for j in range(1, n_components + 1)]


def theorem_11_bound(values: Array, total: float, epsilon: float, *, uniform: bool = False) -> Array:
    """Upper bounds of the expected losses of the first 1, 2, .. k iterative components [magdonismail2015, Theorem 11].

    Parameters
    ----------
    values : ndarray of shape (k,)
        The k largest eigenvalues of X'X, in descending order.
    total : float
        ||X||^2.
    epsilon : float
        As in :func:`theorem_11_schedule`.
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
    """Upper bounds of the losses of the first 1, 2, .. k iterative components, for any numbers of features and any
    selector.

    This is the recursion behind [magdonismail2015, Theorem 11]. The loss of the j-th component is at most
    ``factors[j]`` times the smallest loss on the residual, and some direction of the residual has at least the variance
    l_j. So b_j = factors[j] (b_{j-1} - l_j), and never more than b_{j-1}.

    Parameters
    ----------
    values : ndarray of shape (k,)
        The k largest eigenvalues of X'X, in descending order.
    total : float
        ||X||^2.
    factors : sequence of k floats
        1 + delta_j: the guarantee of the selector for one component with the number of features of the j-th.
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
    """Number of columns, of r > k + 1, for the dual set that minimises ``adaptive_factor``."""
    k, r = n_components, n_columns
    return min(range(k + 1, r), key=lambda first: dual_set_factor(k, first) / (r - first))


PROJECTED = 7 / 6
"""Expected loss / PCA's loss allowed for the random projection of adaptive sampling."""


def adaptive_factor(n_components: int, n_columns: int, accuracy: float = 1.0) -> float:
    """Upper bound of the expected loss / PCA's loss for adaptive sampling after a dual set, for r > k.

    1 + (k/s) a (1 + 1/(1 - sqrt(k/r1))^2) for the best split r = r1 + s [magdonismail2015, Theorem 6(ii)], where
    ||X - XVV'||^2 = a ||X - X_k||^2 for the V used; or the bound of the dual set for r1 columns if that is smaller.
    """
    k, r = n_components, n_columns
    if r <= k + 1:
        return dual_set_factor(k, r) * accuracy
    first = best_split(k, r)
    constant = accuracy * dual_set_factor(k, first)
    return min(1.0 + k / (r - first) * constant, constant)


def two_sided_adaptive_factor(n_components: int, n_columns: int, n_rows: int, accuracy: float = 1.0) -> float:
    """Upper bound of the expected loss / PCA's for adaptive sampling of columns and rows: 1 + O(k/c) + O(k/r).

    With B = X_{C,k} of rank k and rows R, the dual set's R1 and s more drawn by the residuals of X,
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
    """e = (k + 3 sqrt(k) + 1) sqrt(80 / m): the relative error of a count sketch S of m rows, with probability 0.9.

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
    """The smallest m whose :func:`count_sketch_error` is at most ``error``."""
    return math.ceil(80 * ((n_components + 3 * math.sqrt(n_components) + 1) / error) ** 2)


def count_sketch_factor(n_components: int, n_columns: int, n_rows: int) -> float:
    """Upper bound of loss / PCA's loss for dual set selection on a count sketch, with probability 0.9; infinite for few
    rows."""
    error = count_sketch_error(n_components, n_rows)
    return dual_set_factor(n_components, n_columns) * (1 + error) / (1 - error) if error < 1 else math.inf


@dataclass(frozen=True)
class SelectionPromise:
    """The guarantee of a theorem for a selector: its factor for k components on r columns, and its strength."""

    words: str
    where: str
    factor: Callable[[int, int], float]
    two_sided: Callable[[int, int, int], float]
    chance: str | None = None  # "in expectation" or a probability, if any
    revealing: bool = False  # whether the factor is ``rank_revealing_factor`` of the columns


def _derandomised_on_both_sides(n_components: int, n_columns: int, n_rows: int) -> float:
    """Like :func:`doubly_sparse_factor`, for derandomised adaptive sampling of columns and rows."""
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
"""Guarantees by the name that ``applicable_theorem`` gives a selector."""


def selection_promise(premise: Premise | None) -> SelectionPromise | None:
    """A guarantee of ``PROMISES``, or that of dual set selection on a count sketch with this number of rows."""
    if premise is None or premise.algorithm != "count_sketch":
        return None if premise is None else PROMISES.get(premise.algorithm)
    n_rows = premise.number
    return SelectionPromise(
        f"dual set selection on a sketch of {n_rows} rows",
        "6",
        lambda k, r: count_sketch_factor(k, r, n_rows),
        lambda k, c, r: math.inf,
        "probability 0.9",
    )


def approximation_factor(values: Array, n_features: int, n_nonzero: int, rank: int, *, shifted: bool = False) -> float:
    """Lower bound of the share of the optimum that the best x >= 0 for the ``rank`` leading eigenpairs keeps.

    max(k / 2n, 1 / (1 + 2 (n/k) l_{d+1} / l_1)) for k nonzeros of n features [asteris2014, Theorem 1]: the leading
    eigenvector alone has k / 2n of l_1 in the k largest entries of one sign, and the eigenpairs left out add at most
    l_{d+1}. If no positive eigenvalue is left out, the share is 1.

    Parameters
    ----------
    values : ndarray of shape (k,)
        The leading eigenvalues of A in descending order: ``rank`` + 1 of them, or all positive ones.
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
    """Number of entries s for which a rounding loses at most ``accuracy``: 200 k / eps^2 [fountoulakis2016, Theorem 1].

    For the *global* optimum x of the relaxation |x|_2 <= 1, |x|_1 <= sqrt(k), which no solver is known to return, the
    rounding y of expected size s has y'Ay >= OPT - eps with probability 3/4, and |y|_2 <= 1 + 0.15 eps with
    probability 3/4. Therefore no certificate cites it. It shows how far s = k is from the proved range.

    Parameters
    ----------
    n_nonzero : int
        k, the number of entries of the best sparse vector.
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
    """The smallest rank that loses at most the share ``accuracy`` for every A with the eigenvalues ``values``.

    For fixed n_nonzero / n_features this makes the search polynomial for every spectrum that decreases to zero (the
    paper's PTAS). None if the given values do not decrease far enough.
    """
    falling = np.maximum(values[1:], 0.0) / float(values[0]) if len(values) and values[0] > 0 else np.zeros(0)
    enough = np.flatnonzero(1 / (1 + 2 * n_features / n_nonzero * falling) >= 1 - accuracy)
    return int(enough[0]) + 1 if len(enough) else None

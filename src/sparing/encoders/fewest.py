"""The fewest features whose loss is small enough."""

from __future__ import annotations

from collections.abc import Callable

from sparing.budget import Budget
from sparing.results import Encoder, Spectrum


def fewest_features(
    encode: Callable[[int], Encoder], spectrum: Spectrum, max_loss: float, limit: int, *, budget: Budget
) -> Encoder:
    """The encoder with the fewest features found whose loss is at most ``max_loss`` times PCA's.

    Doubles the number of features until the loss fits, then bisects. Losses found by search are not exactly monotone
    in the number of features, so the count is an upper bound on the fewest. ``limit`` features are always accepted:
    nothing further could be added.
    """

    def fits(encoder: Encoder) -> bool:
        return spectrum.loss_ratio(encoder.loss) <= max_loss

    count = min(spectrum.rank, limit)  # fewer features than components would give fewer components
    too_few, found = count - 1, encode(count)
    while not fits(found) and count < limit and not budget.expired:
        too_few, count = count, min(2 * count, limit)
        found = encode(count)
    while count - too_few > 1 and fits(found) and not budget.expired:
        middle = (too_few + count) // 2
        trial = encode(middle)
        if fits(trial):
            count, found = middle, trial
        else:
            too_few = middle
    return found

"""Each component is its picture, in its place."""

from __future__ import annotations

import numpy as np
import pytest

from sparing import NonnegativeSparsePCA, SparsePCA
from sparing.plots import ImagePartsDisplay


@pytest.fixture
def X(rng):
    return rng.random((60, 12)) @ rng.random((12, 12)) ** 4


def tiles(image, height, width, columns, count):
    places = [divmod(i, columns) for i in range(count)]
    return [image[r * (height + 1) :, c * (width + 1) :][:height, :width] for r, c in places]


@pytest.mark.parametrize("columns", [None, 2])
def test_tiles_are_the_components_in_units_of_their_largest_entry(X, columns):
    model = NonnegativeSparsePCA(3, n_nonzero=4, random_state=0, certify=False, effort="quick").fit(X)
    shown = ImagePartsDisplay.from_estimator(model, (3, 4), n_columns=columns)
    image = shown.image_.get_array()
    for tile, component in zip(tiles(image, 3, 4, columns or 3, 3), model.components_, strict=True):
        np.testing.assert_allclose(tile.data.ravel(), component / component.max())
    assert shown.image_.get_clim() == (0.0, 1.0)
    if columns == 2:
        assert image.mask[4:, 5:].all()  # there is no fourth
    shown.figure_.canvas.draw()


def test_on_the_mean_only_pixels_in_use_are_painted_over(X):
    model = SparsePCA(2, n_nonzero=5, random_state=0, certify=False, effort="quick").fit(X)
    shown = ImagePartsDisplay.from_estimator(model, (4, 3), on_mean=True)
    behind, parts = shown.ax_.images
    for mean, tile, component in zip(
        tiles(behind.get_array(), 4, 3, 2, 2), tiles(parts.get_array(), 4, 3, 2, 2), model.components_, strict=True
    ):
        np.testing.assert_allclose(mean.ravel(), model.mean_)
        np.testing.assert_array_equal(tile.mask.ravel(), component == 0)
    if (model.components_ < 0).any():
        assert parts.get_clim() == (-1.0, 1.0)


def test_a_grid_without_columns_gets_a_sentence(X):
    model = SparsePCA(1, n_nonzero=5, random_state=0, certify=False).fit(X)
    with pytest.raises(ValueError, match="n_columns=0 must be at least 1"):
        ImagePartsDisplay.from_estimator(model, (3, 4), n_columns=0)


def test_shapes_must_fit(X):
    model = SparsePCA(1, n_nonzero=5, random_state=0, certify=False).fit(X)
    for shape in ((3, 5), (-3, -4), 12, (12,), (1.5, 8), "ab"):
        with pytest.raises(ValueError, match="12 pixels"):
            ImagePartsDisplay.from_estimator(model, shape)

"""What cannot be drawn as asked."""

from __future__ import annotations


def wrong_number_of_axes(got: int, wanted: int) -> ValueError:
    """Panels that do not match what is drawn."""
    return ValueError(f"ax has {got} axes, and {wanted} are drawn. Pass a sequence of {wanted} axes, or none.")


def bad_component(value: object, n_components: int, count: int | None) -> ValueError:
    """Components that there are not, or another number of them than the picture has axes."""
    have = "1 component" if n_components == 1 else f"{n_components} components"
    if count is not None and n_components < count:
        return ValueError(
            f"The picture has {count} axes, one for each component, and the estimator has {have}. Fit at least {count} "
            f"with n_components; LoadingsDisplay draws any number of them."
        )
    many = "one or more" if count is None else str(count)
    return ValueError(
        f"components={value!r} cannot be drawn: {many} whole numbers from 0 to {n_components - 1} are, since the "
        f"estimator has {have}. Pass some of these, or fit more with n_components."
    )


def wrong_shape_of_images(shape: object, n_features: int) -> ValueError:
    """A picture of another number of pixels than there are features."""
    return ValueError(
        f"shape={shape!r} is no shape of pictures of {n_features} pixels, one for each feature. "
        "Pass (height, width) with height times width equal to the number of features."
    )


def rank_below_two(rank: int) -> ValueError:
    """A spannogram of data on a line."""
    return ValueError(
        f"A spannogram shows the two leading directions of the data, and these data have rank {rank}: there is no "
        "angle to draw. The best component reads the largest entries of the one direction."
    )

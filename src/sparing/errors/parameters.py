"""What can be wrong with a parameter, and with what is asked of a result."""

from __future__ import annotations

from collections.abc import Iterable

from sparing.errors.kinds import listed


def not_an_integer(name: str, value: object) -> TypeError:
    """A count that is no count."""
    return TypeError(f"{name}={value!r} is a {type(value).__name__}; it counts things. Pass an integer of at least 1.")


def not_positive(name: str, value: object) -> ValueError:
    """A count below one."""
    return ValueError(f"{name}={value!r} must be at least 1: a model of nothing explains nothing. Pass 1 or more.")


def n_components_too_large(n_components: int, n_features: int) -> ValueError:
    """More components than features."""
    return ValueError(
        f"n_components={n_components}, but X has n_features={n_features}: there are at most as many components as "
        f"features. Pass n_components between 1 and {n_features}."
    )


def n_nonzero_out_of_range(n_nonzero: int, n_features: int) -> ValueError:
    """More features wanted than there are."""
    return ValueError(
        f"n_nonzero={n_nonzero} is outside [1, {n_features}]: X has {n_features} feature(s). Pass an integer between 1 "
        f"and {n_features}, or leave n_nonzero out to get the fewest features that do nearly as well as PCA."
    )


def n_nonzero_per_component(strategy: str) -> ValueError:
    """A list of counts where all components share their features."""
    return ValueError(
        f"n_nonzero is a list, but strategy={strategy!r} gives all components the same features. Pass one integer: "
        f"the number of features shared by all components."
    )


def not_a_flag(name: str, value: object) -> TypeError:
    """Something that is neither True nor False."""
    return TypeError(f"{name}={value!r} must be True or False, and a {type(value).__name__} is neither.")


def bad_random_state(value: object) -> ValueError:
    """No seed, no generator."""
    return ValueError(
        f"random_state={value!r} is neither a non-negative integer, a numpy Generator or RandomState, nor None. "
        f"Pass an integer such as random_state=0 for the same answer every time."
    )


def bad_components_values(components: object) -> ValueError:
    """Loadings that are no table of real numbers."""
    known = {name: getattr(components, name, None) for name in ("dtype", "shape")}
    details = "".join(f", {name} {value}" for name, value in known.items() if value is not None)
    return ValueError(
        f"components ({type(components).__name__}{details}) are no table of real numbers: one row per component and "
        f"one loading in it for each feature are expected. Pass a NumPy array of shape (n_components, n_features)."
    )


def components_not_finite(value: float, row: int, column: object) -> ValueError:
    """A loading that is no number."""
    name = "NaN" if value != value else "infinity"
    return ValueError(
        f"components contain {name} (first in row {row}, feature {column!r}). A loading is a finite number, and 0 "
        f"where a feature is not used: correct it, or remove the component."
    )


def components_not_two_dimensional(shape: tuple[int, ...]) -> ValueError:
    """Loadings that are a vector, or have more than two axes."""
    return ValueError(
        f"components has shape {shape}; one row per component and one column per feature are expected. "
        f"Pass components.reshape(1, -1) if it is a single component."
    )


def bad_spike(spike: object) -> ValueError:
    """A variance that is none."""
    return ValueError(f"spike={spike!r} must be a positive number: it is the variance added along a component.")


def wrong_number_of_counts(got: int, n_components: int) -> ValueError:
    """A list of counts of another length than the number of components."""
    return ValueError(
        f"n_nonzero has {got} counts, but n_components={n_components}. Pass one count for each component, or one "
        f"integer for all of them."
    )


def orthonormal_needs_batch(strategy: str) -> ValueError:
    """Orthonormal loadings would mix the features of different components."""
    return ValueError(
        f"orthonormal=True mixes the features of all components, but strategy={strategy!r} gives each component its "
        f"own. Use strategy='batch'."
    )


def sketch_needs_batch(sketch: object, strategy: str) -> ValueError:
    """Only loadings on shared features are computed from a sketch."""
    return ValueError(
        f"sketch={sketch!r} computes the loadings of shared features from fewer rows, but strategy={strategy!r} gives "
        f"each component its own. Use strategy='batch', or leave sketch out."
    )


def both_counts_given() -> ValueError:
    """n_nonzero and max_loss at once."""
    return ValueError(
        "Both n_nonzero and max_loss were given; one decides the other. Pass n_nonzero to fix the number of features, "
        "or max_loss to get the fewest features that reach it."
    )


def max_loss_out_of_range(max_loss: object) -> ValueError:
    """A loss ratio that nothing can reach, or no number."""
    return ValueError(
        f"max_loss={max_loss!r} must be a number of at least 1: it is the loss divided by PCA's, and no encoder loses "
        f"less than PCA. max_loss=1.1 allows 10% more than PCA."
    )


def unknown_choice(parameter: str, value: object, allowed: Iterable[object]) -> ValueError:
    """A name that is not registered."""
    names = listed(sorted(map(str, allowed)), 20)
    if isinstance(value, type):
        own = value.__name__
        return ValueError(
            f"{parameter}={own} is not known: it is a class. Pass an instance, {own}(), or one of {names}."
        )
    return ValueError(f"{parameter}={value!r} is not known. Choose one of {names}.")


def bad_time_limit(value: object) -> ValueError:
    """A time limit that is no positive number."""
    return ValueError(f"time_limit={value!r} must be a positive number of seconds, or None for no limit.")


def bad_components(shape: tuple[int, ...], n_features: int) -> ValueError:
    """Loadings whose width is not that of the data."""
    return ValueError(
        f"components has shape {shape}, but X has {n_features} features: one row per component and one column per "
        f"feature are expected. Transpose loadings that have one column per component."
    )


def zero_component(index: int) -> ValueError:
    """A component without loadings."""
    return ValueError(f"components[{index}] is all zero, so it encodes nothing. Remove it, or lower its penalty.")


def too_many_for_proof(n_features: int, limit: int) -> ValueError:
    """More features than an exhaustive search can settle."""
    return ValueError(
        f"selector='exact' searches supports of at most {limit} features; X has {n_features}. Use selector='auto', "
        f"whose certificate says how far from the best possible its choice can be."
    )


def more_than_there_are(name: str, value: int, limit: int, things: str) -> ValueError:
    """More features or data points wanted than X has."""
    return ValueError(
        f"{name}={value} is outside [1, {limit}]: X has {limit} {things}. Pass an integer between 1 and {limit}."
    )


def not_a_positive_number(name: str, value: object) -> ValueError:
    """A size that must be a number above zero."""
    return ValueError(f"{name}={value!r} must be a positive number. Pass one above 0.")


def not_a_nonnegative_number(name: str, value: object) -> ValueError:
    """A size that may be zero but not less."""
    return ValueError(f"{name}={value!r} must be a number of at least 0.")


def not_a_share(name: str, value: object, example: str, *, below_one: bool = False) -> ValueError:
    """A number that is no share of one."""
    limit = "below 1" if below_one else "at most 1"
    return ValueError(f"{name}={value!r} must be a number above 0 and {limit}. {example}")


def not_a_power_of_two(name: str, value: object, least: int) -> ValueError:
    """A size for which there is no Hadamard matrix of the simple kind."""
    return ValueError(f"{name}={value!r} must be a power of two of at least {least}, such as {max(least, 128)}.")


def too_small(name: str, value: object, least: int) -> ValueError:
    """A count below what the thing needs."""
    return ValueError(f"{name}={value!r} must be at least {least}.")


def too_few_samples(got: int, needed: int) -> ValueError:
    """A recheck on data that lack the data points a decoder is built on."""
    return ValueError(
        f"X has {got} sample(s), but this certificate is about a decoder built on data point {needed - 1}. Pass the "
        f"data of the fit, with their rows in the same order."
    )


def path_too_short(max_loss: float, longest: int, reached: float) -> ValueError:
    """A loss that no step of a path keeps."""
    return ValueError(
        f"No number of features up to {longest} keeps the loss within {max_loss:g} times PCA's; {longest} features "
        f"lose {reached:.4g} times. Compute a longer path with max_features, or allow a larger max_loss."
    )


def needs_package(what: str, package: str, extra: str) -> ModuleNotFoundError:
    """An optional dependency that is not installed."""
    return ModuleNotFoundError(f"{what} needs {package}: pip install {package}, or pip install 'sparing[{extra}]'")


def wrong_number_of_names(got: int, wanted: int, things: str = "features") -> ValueError:
    """Names for other things than there are."""
    return ValueError(f"{got} names were given for {wanted} {things}. Pass one name for each, in their order, or none.")


def cannot_draw(estimator: object, attribute: str, drawn: str) -> TypeError:
    """A picture of something that has none of what is drawn."""
    kind = type(estimator).__name__
    return TypeError(f"{kind} has no {attribute}, which is what is drawn. Pass a fitted {drawn}.")


def wrong_number_of_penalties(got: int, n_components: int) -> ValueError:
    """Fewer penalties than components."""
    return ValueError(
        f"l1 has {got} penalties, but n_components={n_components}. Pass one penalty for each component, or one number "
        f"for all of them."
    )


def penalty_too_large(l1: object) -> ValueError:
    """A penalty under which no feature is left."""
    return ValueError(
        f"l1={l1!r} leaves no feature in any component. Pass a smaller penalty, or n_nonzero alone to have the penalty "
        f"chosen so that exactly as many features are left."
    )


def ridge_needs_gram(ridge: float, n_features: int, limit: int) -> ValueError:
    """A finite ridge where the matrix it needs would be large."""
    return ValueError(
        f"ridge={ridge:g} needs a matrix of features by features, which is formed for at most {limit} features; X has "
        f"{n_features}. Use ridge=float('inf'), which works from products with X alone and is meant for many features."
    )


def too_many_to_eliminate(n_features: int, limit: int) -> ValueError:
    """More features than backward elimination can begin with."""
    return ValueError(
        f"Greedy(direction='backward') begins with all features and decomposes their whole matrix, for at most {limit} "
        f"features; X has {n_features}. Use direction='forward', which begins with none, or solver='auto'."
    )


def too_many_for_relaxation(n_features: int, limit: int) -> ValueError:
    """More features than a semidefinite program is solved for."""
    return ValueError(
        f"solver='semidefinite' optimises over matrices of features by features, for at most {limit} features; X has "
        f"{n_features}. Use solver='auto', which needs columns of chosen features only, or keep fewer features first: "
        f"those of largest variance."
    )


def few_passes_not_possible(most: int) -> ValueError:
    """Few passes for a method that has no such form."""
    return ValueError(
        f"passes='few' with more than {most} features is for SparseEncoder with strategy='batch', selector='auto' or "
        f"'greedy' and no sketch=, which chooses one set of features for all components from a sketch. Use that, "
        f"or passes='any', with which X is read as often as the method needs."
    )

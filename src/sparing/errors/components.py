"""What can be wrong with what is asked of sparse components."""

from __future__ import annotations


def two_ways_to_count(first: str, second: str) -> ValueError:
    """Two parameters that decide the number of features."""
    return ValueError(
        f"Both {first} and {second} were given; one decides the other. Pass n_nonzero for a number of features per "
        f"component, or min_variance for the fewest that keep a share (SparsePCA also takes n_nonzero_total)."
    )


def total_too_small(total: int, n_components: int) -> ValueError:
    """Fewer features than components."""
    return ValueError(
        f"n_nonzero_total={total}, but n_components={n_components}: each component needs a feature at least. Pass "
        f"n_nonzero_total of {n_components} or more."
    )


def total_too_large(total: int, n_components: int, n_features: int) -> ValueError:
    """More features over all components than there are places."""
    most = n_components * n_features
    return ValueError(
        f"n_nonzero_total={total}, but {n_components} component(s) of X's {n_features} features have {most} "
        f"loadings in all. Pass n_nonzero_total of {most} or less."
    )


def constraint_decides(constraint: str, deflation: object) -> ValueError:
    """A constraint and a deflation at once."""
    return ValueError(
        f"constraint={constraint!r} and deflation={deflation!r} were both given, but the constraint decides what is "
        f"left for the next component. Leave deflation='auto'; for components one after the other pass "
        f"deflation=OrthogonalConstraint() or UncorrelatedConstraint() from sparing.deflation instead."
    )


def joint_only(parameter: str, value: object, why: str) -> ValueError:
    """A wish that only the joint search can fulfil."""
    return ValueError(
        f"{parameter}={value!r} is met by searching all components together, but {why}. Leave solver='auto' and "
        f"deflation='auto'."
    )


def two_sided_alone(parameter: str) -> ValueError:
    """Sparse row scores with another way to take several components."""
    return ValueError(
        f"n_rows asks for sparse vectors on both sides by Algorithm 2 of [fountoulakis2016], which deflates by "
        f"projection; it does not go with {parameter}. Leave {parameter} at its default."
    )


def constraint_leaves_fewer(constraint: str, got: int) -> str:
    """Why a constraint ends a sequence of components."""
    return (
        f"constraint={constraint!r} leaves no further component with so few features (each earlier component costs one "
        f"degree of freedom, and {got} were found)"
    )


def bound_below_value(method: str, bound: float, value: float) -> RuntimeError:
    """A proof contradicts a result: one of them is wrong, and neither may be shown."""
    return RuntimeError(
        f"The bound by {method} ({bound:.10g}) is below a variance that was reached ({value:.10g}), which cannot be: "
        f"this is a fault of sparing. Please report it with the data; certify=False gives the components without a "
        f"certificate."
    )


def bound_above_loss(method: str, bound: float, value: float) -> RuntimeError:
    """The same for a loss that is below what anything can lose."""
    return RuntimeError(
        f"The bound by {method} ({bound:.10g}) is above a loss that was reached ({value:.10g}), which cannot be: "
        f"this is a fault of sparing. Please report it with the data; certify=False gives the components without a "
        f"certificate."
    )


def bad_incumbent(value: object) -> ValueError:
    """Where an exact search is to start from something that does not search."""
    return ValueError(
        f"Exact(incumbent={value!r}): the search starts from the answer of another solver. Pass one with its settings, "
        f"for example Auto() or TruncatedPower(), not its name or class."
    )

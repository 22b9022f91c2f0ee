"""Parameters brought to the device, and the names of those that are differentiated against."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from renderers import Loaded, ParameterError, suggestion


def placed(loaded: Loaded, params: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Parameters on the device, in the renderer's dtype.

    Raises:
        ParameterError: one is missing, unknown, of another shape, no real number, or of another
            dtype than the rest.
    """
    declared = loaded.spec.params
    for name in {*params, *declared}:
        if name not in declared or name not in params:
            raise ParameterError(
                f"Parameter {name!r} is {'unknown' if name in params else 'missing'}."
                + suggestion(name, declared),
                code="unknown_parameter" if name in params else "missing_parameter",
                field="params",
            )
        value = params[name]
        if tuple(value.shape) != declared[name].shape:
            raise ParameterError(
                f"Parameter {name!r} has shape {list(declared[name].shape)}; got "
                f"{list(value.shape)}.",
                code="invalid_shape",
                field=f"params.{name}",
            )
    kinds = sorted({str(value.dtype).removeprefix("torch.") for value in params.values()})
    if len(kinds) > 1 or not all(value.is_floating_point() for value in params.values()):
        raise ParameterError(
            "All parameters must be of one floating-point dtype, to have derivatives; got "
            f"{', '.join(kinds)}. `Spec.bind` makes them float64.",
            code="mixed_dtype",
            field="params",
        )
    return {name: params[name].detach().to(loaded.device, loaded.dtype) for name in declared}


def chosen_names(loaded: Loaded, wrt: Sequence[str] | None) -> tuple[str, ...]:
    """The parameters that are differentiated against, each once; all of them where not given.

    Raises:
        ParameterError: one that there is not, or none.
    """
    declared = loaded.spec.params
    names = tuple(declared if wrt is None else dict.fromkeys(wrt))
    for name in names:
        if name not in declared:
            raise ParameterError(
                f"There is no parameter {name!r} to differentiate against."
                + suggestion(name, declared),
                code="unknown_parameter",
                field="wrt",
            )
    if not names:
        raise ParameterError(
            "There is nothing to differentiate against." + suggestion("", declared),
            code="unknown_parameter",
            field="wrt",
        )
    return names

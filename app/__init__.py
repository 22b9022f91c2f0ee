"""sensmap: sensitivity maps d(image)/d(parameter) of differentiable renderers."""

"""Makes the binding's look-up of torch_c ops cheap (see the package docstring); nothing to call."""

"""Makes the binding's look-up of torch ops cheap (see the package docstring); nothing to call."""

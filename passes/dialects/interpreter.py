"""Makes the binding's look-up of interpreter ops cheap (see the package docstring); nothing to call."""

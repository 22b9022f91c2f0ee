"""Does not load: there is no renderer in it."""

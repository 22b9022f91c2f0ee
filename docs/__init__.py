"""Documents, and what they take from the code."""

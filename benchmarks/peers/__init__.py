"""The same maps by other means, each written as its own users would: one peer a file."""

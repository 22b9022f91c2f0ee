"""HTTP only: what a request may say, what an answer holds, and one file a resource."""

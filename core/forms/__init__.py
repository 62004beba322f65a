"""The form of API tokens."""

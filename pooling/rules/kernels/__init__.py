"""Mining, counting, storing and applying rules, as arrays and sparse matrices."""

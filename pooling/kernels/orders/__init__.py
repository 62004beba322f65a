"""Orders of judging: which triples people get next. One file an order; ORDERS is the registry."""

"""Commands about graphs, systems, runs and pools; PoolCommand (pool_command.py) is the base of those about one pool."""

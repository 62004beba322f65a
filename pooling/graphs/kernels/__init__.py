"""Arithmetic on graphs: `graph_arrays.GraphArrays`, relation categories, degrees and family trees."""

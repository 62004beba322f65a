"""Dates as the pages write them, where Django has another form for the language."""

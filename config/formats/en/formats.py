"""Dates in English: 25 Nov 2026, which is read alike on both sides of the Atlantic."""

SHORT_DATE_FORMAT = "j M Y"
SHORT_DATETIME_FORMAT = "j M Y, H:i"

"""{{ system.name|system_name }}: a system as the literature names it."""

from django import template

from pooling.systems.shown_names import shown_name

register = template.Library()
register.filter("system_name", shown_name)

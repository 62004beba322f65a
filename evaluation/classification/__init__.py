"""Triple classification: is this triple true? Systems decide by a threshold of their score, people know the answer.

`kernel.py` chooses thresholds and measures decisions, `judged.py` finds the scores of judged triples, `sections.py`
makes the page. Source: Socher et al. (2013), Reasoning with neural tensor networks; Safavi and Koutra (2020), CoDEx.
"""

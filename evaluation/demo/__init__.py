"""Run the whole product on a made-up graph, from its families to an exported test set.

`demo.py` has `Demo` and `DemoOptions`; `stages.py` runs the stages (`run_stages`); `logins.py` creates the people and
returns their passwords (`logins`); `results.py` has the last stages and the ranking under the truth (`true_values`).
"""

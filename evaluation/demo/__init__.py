"""Run the whole product on a made-up graph, from its families to an exported test set.

`demo.py` has `Demo`, `DemoOptions` and the people (`logins`); `stages.py` runs the stages (`run_stages`); `results.py`
has the last stages and the ranking under the truth (`true_values`).
"""

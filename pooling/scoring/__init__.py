"""Score questions with a trained model, and rank entities.

`scorer.py` loads a trained model (`load_scorer`). `ranking.py` returns candidates and ranks (`score_questions`,
`rank_of_triples`), `distribution_pass.py` predictive distributions (`predict_questions`). `ranks.py` and
`distributions.py` define what these return, and need no torch. `rank_rows.py` numbers (question, entity) pairs;
`forms.py` turns query vectors and entity features into scores, `compiled.py` does so by compiled loops on a CPU.
"""

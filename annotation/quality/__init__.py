"""How good labels are: checks, agreement, and the work of each person.

checks.py gives out checks among slots (claim_questions), and adds them (gold_from_pool, gold_from_file, draw_recheck);
reports.py reports agreement and checks (agreement_report, gold_rows, recheck_report, recheck_supply); annotators.py the
work of each person (annotators, annotator_detail); hours.py their hours (hours_csv); kernel.py has the coefficients.
"""

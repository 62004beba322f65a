"""Sum up a pool: its stages, its two rankings, its methods, and reports to take away.

`counts.py` (`stage_counts`, `pool_report`) and `status.py` (`stage_statuses`, `next_status`) describe it; `rankings.py`
(`overview`, `page_version`) ranks the systems by seeds and by current labels, and `sections.py` (`OVERVIEW`) shows it;
`full_report.py` (`full_report`) and `methods.py` write the report of an evaluation.
"""

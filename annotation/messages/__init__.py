"""What managers and annotators tell each other.

guidelines.py keeps the versions of the guidelines (current_guidelines, save_guidelines) and renders Markdown
(render_markdown); flags.py keeps reports and replies (report, answer_flag, own_flags); inbox.py lists reports and
comments (reports, reports_as_shown, comments, new_answers).
"""

"""What managers and annotators tell each other.

guidelines.py keeps the versions of the guidelines (current_guidelines, save_guidelines) and renders Markdown
(render_markdown); flags.py keeps reports and replies (report, answer_flag) and lists them, with comments on labels
(own_flags, reports, reports_as_shown, comments, new_answers).
"""

"""Forms of the evaluation pages, a file for each subject. Refusals of the domain appear at them too."""

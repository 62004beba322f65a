"""Hold what belongs to no subject: jobs, files, database, people, the base of the API and pages. It imports no app."""

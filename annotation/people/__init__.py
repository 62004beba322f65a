"""People: accounts, roles, invitations, consent, and their own data.

accounts.py has accounts and roles (add_person, give_role, take_role, switch_off, managers); invitations.py the links
to join (invite, accept, accept_as_new, revoke, open_invitations) and their e-mail (send); members.py a campaign's
people (members_of) and their consent (consent, set_personal_data); own_data.py gives out and erases personal data
(own_data, preview_erasure, erase).
"""

"""People: accounts, roles, invitations, consent, and their own data.

accounts.py has accounts and roles (add_person, give_role, take_role, switch_off, managers); invitations.py the links
to join (invite, accept, accept_as_new, revoke, open_invitations); consent.py the text on personal data (consent,
set_personal_data); members.py lists a campaign's people (members_of); own_data.py and erasure.py give out and erase
personal data (own_data, preview_erasure, erase); mail.py sends e-mail (send).
"""

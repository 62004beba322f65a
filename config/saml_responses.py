"""Say what is wrong with a response of SAML. Anybody can send one, so it is looked at before anything is computed."""

from typing import Any

from django.http import HttpRequest
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.utils import OneLogin_Saml2_Utils as Utils
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML as Xml

# of signatures in SAML (core, 5.4); others, such as XSLT, can compute for ever, and do before a key is looked at
TRANSFORMS = {
    "http://www.w3.org/2000/09/xmldsig#enveloped-signature",
    "http://www.w3.org/2001/10/xml-exc-c14n#",
    "http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
}
MOST = {"Signature": 2, "Reference": 2, "Transform": 4}  # of the response and its assertion
_CONFIRMED = "/samlp:Response/saml:Assertion/saml:Subject/saml:SubjectConfirmation/saml:SubjectConfirmationData"


def why_refused(request: HttpRequest, auth: Any) -> str | None:
    """Return what is wrong with the response in a request, in words that a stranger may have chosen; None: nothing."""
    try:
        if not _is_plain(request.POST.get("SAMLResponse", "")):
            return "Its signature has parts that no signature of SAML has."
        auth.process_response()
    except (OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError, SyntaxError, ValueError) as error:  # lxml's
        return str(error)
    if auth.get_errors():
        return auth.get_last_error_reason() or "invalid"
    # allauth looks at the request that the response names; where the assertion alone is signed, anybody can write that
    asked = auth.get_last_response_in_response_to()
    signed = Xml.query(Xml.to_etree(auth.get_last_response_xml()), f"{_CONFIRMED}/@InResponseTo")
    return None if asked and asked in signed else "Its assertion names another request, or none."


def _is_plain(response: str) -> bool:
    document = Xml.to_etree(Utils.b64decode(response))
    found = {one: Xml.query(document, f"//ds:{one}") for one in MOST}
    few = all(len(found[one]) <= most for one, most in MOST.items())
    return few and all(one.get("Algorithm") in TRANSFORMS for one in found["Transform"])

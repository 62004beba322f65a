"""Say what is wrong with a response of SAML. Anybody can send one, so it is looked at before anything is computed."""

import re
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
# the response and its assertion can be signed. The time to write elements as they were signed grows with their number,
# their depth and the square of the namespaces there
MOST = {"//ds:Signature": 2, "//ds:Reference": 2, "//ds:Transform": 4, "//*": 10_000, "/*" * 21: 0}
MOST_NAMES = 24  # at one element: namespaces, attributes, and prefixes of a transform
_WHOLE = re.compile(r"(#[\w.-]+)?")  # what is signed, by its id; xmlsec would also read files, and compute any XPath
_CONFIRMED = "/samlp:Response/saml:Assertion/saml:Subject/saml:SubjectConfirmation/saml:SubjectConfirmationData"


def why_refused(request: HttpRequest, auth: Any) -> str | None:
    """Return what is wrong with the response in a request, in words that a stranger may have chosen; None: nothing."""
    try:
        if not _is_plain(request.POST.get("SAMLResponse", "")):
            return "It is too large, or has parts that no response of SAML has."
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
    return (
        all(len(Xml.query(document, those)) <= most for those, most in MOST.items())
        and all(one.get("Algorithm") in TRANSFORMS for one in Xml.query(document, "//ds:Transform"))
        and all(_WHOLE.fullmatch(one.get("URI", "")) for one in Xml.query(document, "//ds:Reference"))
        and all(len(prefixes.split()) <= MOST_NAMES for prefixes in Xml.query(document, "//@PrefixList"))
        and all(max(len(one.nsmap), len(one.attrib)) <= MOST_NAMES for one in document.iter("*"))
    )

"""Kinds of business processes, recognised by the words of a request.

Every kind has words and phrases with a weight: 3 for distinctive ones, 2 for indicative ones, 1 for
related ones. The kind with the highest sum wins, if the sum is at least 2; a tie goes to the kind
whose words come first. Otherwise the kind is `general`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

GENERAL = "general"
MAX_CHARS = 4_000
"""Most characters of a request to examine."""
ENOUGH = 2

CUES: Mapping[str, Mapping[int, str]] = {
    "expense_approval": {
        3: "expense, expenses, reimburse*, per diem, out of pocket, mileage, exp-",
        2: "receipt, receipts, travel cost*, business trip, travel claim, flight*",
        1: (
            "claim, trip, taxi, hotel, meal*, lunch, dinner, approv*, sign* off, report, "
            "myself, money back, paid"
        ),
    },
    "procurement": {
        3: "procure*, purchase requisition*, requisition*, purchase request*, rfq, tender",
        2: (
            "buy, vendor quote*, supplier quote*, quotation*, sourcing, purchase, purchase "
            "order*, pr-"
        ),
        1: (
            "purchas*, vendor*, supplier*, laptop*, licen?e*, quote*, approv*, bid*, budget, "
            "from our, equipment, furniture, po-"
        ),
    },
    "hr_offboarding": {
        3: (
            "offboard*, last working day, exit interview*, last day, resign*, leaver*, handed "
            "in * notice, gave notice, leaving the company, left the company"
        ),
        2: (
            "terminat*, departing, departure, revoke * access, revoke access, final pay*, "
            "fired, dismiss*, retire*"
        ),
        1: (
            "employee*, access, account*, badge*, deactivat*, disable, laptop, hr, quit*, "
            "leaves, leaving, mailbox, colleague"
        ),
    },
    "incident_response": {
        3: "incident*, outage*, security breach*, data breach*, ransomware, phish*, inc-",
        2: (
            "sev1, sev2, p1, is down, are down, malware, breach*, on call, intrusion, not "
            "responding, does not respond, does not answer, unresponsive, crash*"
        ),
        1: (
            "alert*, server*, service*, severity, restart*, database, 500 error*, hack*, "
            "production, rollback, roll back, error*"
        ),
    },
    "invoice_reconciliation": {
        3: "reconcil*, three way match*, 3 way match*, invoice, invoices, inv-",
        2: (
            "accounts payable, goods receipt, bill from, remittance*, overbilled, billed, "
            "does not match, do not match, release payment, against the purchase order"
        ),
        1: (
            "match*, discrepan*, payment*, purchase order*, ledger, supplier*, vendor*, bill, "
            "po-, statement*, unpaid"
        ),
    },
    "customer_onboarding": {
        3: "onboard*, kyc, know your customer",
        2: (
            "new customer*, new client*, open an account, sign up, welcome pack*, as a "
            "customer, as a client, create an account, set up the account"
        ),
        1: (
            "customer*, client*, verif*, identity, account*, activat*, register*, document*, "
            "plan, application"
        ),
    },
    "compliance_audit": {
        3: "audit*, complian*, gdpr, sox, iso 27001, soc 2",
        2: "regulat*, internal control*, evidence, policy violation*, finding*, retention",
        1: "control*, review*, record*, attest*, certif*, remediat*",
    },
    "dispute_resolution": {
        3: "disput*, chargeback*, contest*, cardholder*",
        2: (
            "complain*, unauthori?ed charge*, charged twice, double charge*, mediat*, "
            "disagree*, claimant*"
        ),
        1: "refund*, charge*, claim*, customer*, merchant*, transaction*, settle*",
    },
    "order_management": {
        3: "order status, shipping address, back order*, cancel order*, reship*, ord-",
        2: "order, orders, shipment*, shipping, deliver*, parcel*, package*",
        1: "cancel*, return*, refund*, exchange*, item*, warehouse, address, stock",
    },
    "sla_breach": {
        3: "sla, slas, service level*, service credit*",
        2: "response time*, resolution time*, missed deadline*, uptime, penalt*",
        1: "breach*, ticket*, late, overdue, hours, credit*, target*, availability",
    },
}
"""Comma-separated patterns. `*` matches a word or the rest of one, `?` a letter, a space `-` too."""

KINDS = (*CUES, GENERAL)


def kind_of(request: str, policy: str = "") -> str:
    """Return the kind of process that a request asks for, one of `KINDS`.

    If the request's words do not decide, those of its policy do.
    """
    kind = _told_by(request)
    return _told_by(policy) if kind == GENERAL and policy else kind


def _told_by(words: str) -> str:
    text = _plain(words)
    scores = [(*_score(text, cues), kind) for kind, cues in _patterns().items()]
    score, _, kind = max(scores, key=lambda each: each[:2])
    return kind if score >= ENOUGH else GENERAL


def _score(text: str, cues: list[tuple[int, re.Pattern[str]]]) -> tuple[int, int]:
    """Return the sum of the weights of distinct cues, and minus the position of the first."""
    total, first = 0, len(text)
    for weight, pattern in cues:
        hits = [(hit.start(), hit.group()) for hit in pattern.finditer(text)]
        total += weight * len({word for _, word in hits})
        first = min([first, *(at for at, _ in hits)])
    return total, -first


def _plain(request: str) -> str:
    """Return a request in lower case, with identifiers split: `expense report`."""
    return re.sub(r"[\s_/]+|--+", " ", request[:MAX_CHARS].casefold())


@functools.cache
def _patterns() -> Mapping[str, list[tuple[int, re.Pattern[str]]]]:
    """Return, by kind, each weight with the pattern of its cues."""
    return {
        kind: [(weight, _pattern(words)) for weight, words in cues.items()]
        for kind, cues in CUES.items()
    }


def _pattern(words: str) -> re.Pattern[str]:
    written = (
        re.escape(word).replace(r"\*", r"\w*").replace(r"\?", r"\w").replace(r"\ ", "[ -]")
        for word in sorted(words.split(", "), key=len, reverse=True)
    )
    return re.compile(rf"\b(?:{'|'.join(written)})\b")

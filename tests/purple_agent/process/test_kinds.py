"""Which kind of process a request is taken for."""

import pytest

from purple_agent.process.kinds import KINDS, kind_of

TUNED_ON = {
    "expense_approval": [
        "Please approve expense EX-204, the client dinner in Lyon.",
        "I need to be reimbursed for the train to Hamburg last week.",
        "Can you check whether my mileage claim for March went through?",
        "Submit my hotel receipts from the sales trip for approval.",
        "My manager says the taxi receipt of 48 euros still has to be signed off.",
        "I paid for the team lunch myself, 84.20, how do I get the money back?",
        "Report ER-77 from Priya covers flights and a hotel; sign it off please.",
        "Process the travel expense report of the Munich team, it includes an order of flowers.",
    ],
    "procurement": [
        "We want to buy twelve monitors from Northfield Supplies.",
        "Raise a purchase requisition for a new label printer.",
        "Compare the vendor quotes for the cleaning contract and place the order with the cheapest.",
        "Start the tender for the office furniture.",
        "I have to procure three licences of the drawing software.",
        "Order 40 ergonomic chairs from our usual supplier, budget 9,000.",
        "Get me approval to purchase a new server.",
        "PR-18 needs a second quotation before it can go to the vendor.",
    ],
    "hr_offboarding": [
        "Dana Whitlock's last working day is Friday, please close her accounts.",
        "Start the offboarding of employee 5521.",
        "Two people resigned; revoke access for both and collect their badges.",
        "Schedule an exit interview with the accountant who is leaving the company.",
        "We terminated a contractor today, deactivate his account and arrange the final pay.",
        "Employee E-12 leaves on Friday; disable the mailbox and get the laptop back.",
        "Marta handed in her notice.",
        "Run the leaver checklist for user bwhite and revoke access to the CRM.",
    ],
    "incident_response": [
        "The checkout service is down since 9:40, open an incident.",
        "Several colleagues clicked a link in a phishing mail.",
        "We see a sev1 alert on the payments database, restart it.",
        "Somebody hacked the build server, isolate it at once.",
        "What is the state of the outage in the Dublin region?",
        "Users report 500 errors on login, severity high.",
        "The primary database does not answer any more!",
        "Acknowledge INC-4 and page the on-call engineer.",
    ],
    "invoice_reconciliation": [
        "Match invoice 88-1 with its purchase order and post it if the amounts agree.",
        "Reconcile the March statements of Halden Timber with our ledger.",
        "The bill from Aldersea Logistics is higher than the goods receipt says.",
        "Please pay invoice INV-3307.",
        "Do a three-way match for the delivery of cables.",
        "INV-9 from Kestrel does not match PO-3: 40 units billed, 38 received.",
        "Check the supplier's bill against the purchase order and release payment.",
        "There is an unpaid invoice of a customer who disputes nothing.",
    ],
    "customer_onboarding": [
        "Onboard our new customer Brightwater Bakery.",
        "Run the KYC check for the applicant and activate her account.",
        "A new client signed yesterday, set everything up and send the welcome pack.",
        "Verify the identity of the client and register him.",
        "Which documents are still missing for the onboarding of Tilia GmbH?",
        "Create an account for the new client Rosewood and verify their documents.",
        "Application A-31: check identity and open an account.",
        "Please get Fernhill Dental started as a customer with the standard plan.",
    ],
    "compliance_audit": [
        "Prepare the evidence for the SOC 2 audit.",
        "Are we compliant with the retention rules for access records?",
        "Close audit finding F-12, the control has been repaired.",
        "A regulator asks for our GDPR register.",
        "Review the internal controls of the treasury and attest them.",
        "Collect last quarter's access reviews as evidence for the auditors.",
        "Does vendor V-2 still hold a valid ISO 27001 certificate?",
        "Delete the records older than the retention period, as the regulation says.",
    ],
    "dispute_resolution": [
        "The customer disputes a charge of 120 dollars.",
        "Answer the chargeback of transaction T-9.",
        "She complains that she was charged twice and wants a refund.",
        "Settle the disagreement with the merchant over the claim.",
        "I contest the fee on my statement.",
        "The cardholder says he never made transaction T-55.",
        "Case D-8: merchant and buyer disagree about a refund of 60 euros.",
        "A guest complains about an unauthorized charge on her bill.",
    ],
    "order_management": [
        "Cancel order O-771 and refund the customer.",
        "Where is my parcel? It should have been delivered on Monday.",
        "Change the shipping address of order 15 to 4 Mill Lane.",
        "The customer wants to exchange two items of her order.",
        "Put the back-ordered items on the next shipment.",
        "Return two shirts of order 5567 and send a smaller size.",
        "The package has been stuck in the warehouse for a week.",
        "Please change the delivery date to May 3.",
    ],
    "sla_breach": [
        "Ticket 91 broke its SLA, compute the service credit.",
        "We missed the response time for three tickets of Orchard Bank.",
        "Report every service level breach of the last quarter.",
        "Uptime was below the target in June, which penalty do we owe?",
        "Tell the client that the resolution time target was not met.",
        "Ticket T-14 was answered after nine hours instead of four, what do we owe the customer?",
        "Our availability was 98.1 percent against a target of 99.9.",
        "Issue a service credit for the breach of contract C-2.",
    ],
    "general": [
        "Hello there.",
        "Thanks, that is all for today.",
        "What can you do?",
        "Set up a meeting with Ines tomorrow at ten.",
        "",
    ],
}
"""The cues were chosen with these in view."""

HELD_OUT = {
    "expense_approval": [
        "Claim CL-8: conference fee and two nights in Porto, please release it for payment to Jon.",
        "Sven is waiting for his reimbursement since May.",
        "Approve the receipts that Ana uploaded.",
        "What happened to my expense from last Tuesday?",
    ],
    "procurement": [
        "We need twenty headsets for the support team; find a vendor and buy them.",
        "Approve purchase request 31 for the lab equipment.",
        "Send the RFQ for cardboard boxes to both suppliers.",
    ],
    "hr_offboarding": [
        "Employee 12 was dismissed this morning; block his access immediately.",
        "Prepare the departure of our designer at the end of June.",
        "Offboard Lena Ortiz.",
    ],
    "incident_response": [
        "The website crashed again, customers cannot log in.",
        "Incident 40 has to be raised to severity 1.",
        "Malware was found on the reception's computer.",
    ],
    "invoice_reconciliation": [
        "Two invoices of Pollard & Sons carry the same number, hold the second.",
        "Does the amount on INV-21 agree with what we ordered?",
        "Reconcile account 4400.",
    ],
    "customer_onboarding": [
        "Register Quarry Foods as a new customer and choose the basic plan.",
        "KYC for client 77 came back with a hit, what now?",
        "Can we activate the account of the applicant?",
    ],
    "compliance_audit": [
        "List all controls that failed in the last audit.",
        "Certify that the logs were kept for seven years as regulators demand.",
        "Record the policy violation of the Lima office.",
    ],
    "dispute_resolution": [
        "Refund the disputed amount to the buyer.",
        "The tenant contests the cleaning fee, decide on it.",
        "Customer was double charged for a subscription.",
    ],
    "order_management": [
        "Has order 8812 left the warehouse?",
        "Ship the missing item of my order again.",
        "Cancel the two pillows, keep the rest of the order.",
    ],
    "sla_breach": [
        "Calculate the penalty for the missed resolution time of ticket 5.",
        "Which customers were hit by an SLA violation?",
        "The contract promises four hours, we took seven; tell the account manager about the service level.",
    ],
    "general": [
        "Book a room for Thursday.",
        "Who are you?",
        "Good morning!",
        "Remind me to call the dentist.",
    ],
}
"""Written once the cues stood; they are not to be tuned on these."""


def share_of(requests):
    right = [kind_of(each) == kind for kind, all_ in requests.items() for each in all_]
    return sum(right) / len(right)


@pytest.mark.parametrize("requests", [TUNED_ON, HELD_OUT])
def test_every_kind_is_measured(requests):
    assert set(requests) == set(KINDS)


@pytest.mark.parametrize("kind", TUNED_ON)
def test_requests_are_taken_for_what_they_are(kind):
    expected = dict.fromkeys(TUNED_ON[kind], kind)
    assert {request: kind_of(request) for request in TUNED_ON[kind]} == expected


def test_nine_of_ten_requests_that_were_not_tuned_on_are_taken_for_what_they_are():
    assert share_of(HELD_OUT) >= 0.9


def test_identifiers_with_underscores_tell_as_their_words_do():
    assert kind_of("call expense_report for me") == "expense_approval"


def test_a_single_weak_cue_does_not_tell():
    assert kind_of("What is in stock?") == "general"


def test_a_tie_goes_to_the_kind_whose_words_come_first():
    assert kind_of("audit the invoice") == "compliance_audit"
    assert kind_of("invoice of the audit") == "invoice_reconciliation"


def test_only_the_beginning_of_a_huge_request_is_read():
    assert kind_of("x " * 2_000 + "expense report") == "general"


def test_the_policy_tells_where_the_request_does_not():
    assert kind_of("Please see to E7.", "Expenses over 50 euros need a receipt.") == (
        "expense_approval"
    )
    assert kind_of("Onboard Jane.", "Expenses over 50 euros need a receipt.") == (
        "customer_onboarding"
    )

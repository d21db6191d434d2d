"""Lexicon: the words that identify a request for secrets or personal data."""

from __future__ import annotations

from enum import StrEnum


class Datum(StrEnum):
    """The kind of thing that a noun names."""

    KEY = "secret"
    """Opens something or identifies a person: only disclosed to its owner."""
    SENSITIVE = "sensitive"
    """Private data of a person: pay, health, home, identity papers."""
    PERSONAL = "personal"
    """Data of a person that is used in daily work: phone, email, address."""
    RECORD = "record"
    """A business's records of a person; private from other customers."""
    COLLECTION = "collection"
    """Data of many people under one name."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(kind: Datum, text: str) -> dict[tuple[str, ...], Datum]:
    """Read phrases, separated by commas, each also with its plural."""
    found: dict[tuple[str, ...], Datum] = {}
    for item in text.split(","):
        words = tuple(item.split())
        found[words] = kind
        found[(*words[:-1], _plural(words[-1]))] = kind
    return found


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "sh")) else f"{word}s"


NOUNS: dict[tuple[str, ...], Datum] = {
    **_phrases(
        Datum.KEY,
        """password, pass word, passwd, passcode, passphrase, pwd, pin, pin code, pin number,
        social security number, social security, ssn, ss number, card number, credit card number, credit card data,
        credit card detail, credit card info, debit card number, debit card detail, card detail,
        card data, card info, card information, cvv, cvc, cvv2, security code, api key, apikey,
        api token, api secret, secret key, private key, encryption key, signing key, access key,
        ssh key, master key, access token, auth token, bearer token, session token, refresh token,
        security token, token, credential, login detail, login data, login information,
        security answer, security question, secret answer, environment variable, env variable,
        connection string, login, pw, access code, entry code, door code, alarm code, recovery code,
        backup code, seed phrase, recovery phrase, wifi key, network key,
        wi fi key, env file, system prompt, hidden instruction, secrets""",
    ),
    **_phrases(
        Datum.SENSITIVE,
        """salary, wage, pay slip, payslip, payroll, paycheck, compensation, income, bonus,
        medical record, medical history, medical file, medical data, health record, health data,
        diagnosis, prescribed, prescription, illness, pregnant, pregnancy, sick leave, disability,
        home address, private address, personal address, passport number, passport, tax id,
        driving licence number, driver license number, national id, identity card number,
        bank account number, bank account, bank detail, bank data, bank information, iban,
        account number, account statement, bank statement, account balance, credit score,
        criminal record, performance review, disciplinary record, disciplinary file,
        personnel file, text message, private message, medical certificate, health certificate, sick note,
        phone record, call record, employer, marital status, nationality, blood type,
        current location, location history, chat history, chat log, call history,
        browsing history, search history, credit history, credit report, criminal history, pay stub,
        hiv, therapy, divorced, mental health, visa status, immigration status, emergency contact,
        next of kin, tax number, social insurance number, national insurance number, licence plate,
        license plate, verification code, two factor code, otp, earning, net worth, sexuality, religion, sexual orientation, ethnicity,
        personal data, personal detail, personal information, personal info, pii,
        personal phone number, private phone number, private number, personal file, date of birth,
        birth date, birthdate, birthday, whereabouts""",
    ),
    **_phrases(
        Datum.PERSONAL,
        """address, email, email address, e mail, e mail address, phone, phone number, telephone,
        telephone number, mobile number, cell number, contact detail, contact data,
        contact information, contact info, payment method, payment, on file about, on file on,
        credit card, debit card, username, user name, zip code, profile""",
    ),
    **_phrases(
        Datum.RECORD,
        """order, order history, purchase history, purchase, history, account, reservation,
        booking, ticket, bill, invoice, message, detail, data, information, record, file""",
    ),
    ("customer", "records"): Datum.COLLECTION,
    ("client", "records"): Datum.COLLECTION,
    ("user", "records"): Datum.COLLECTION,
    ("employee", "records"): Datum.COLLECTION,
    ("patient", "records"): Datum.COLLECTION,
    **_phrases(
        Datum.COLLECTION,
        """customer database, client database, user database, employee database, customer table,
        client table, user table, users table, customers table, employee table, employees table,
        customer list, client list, customer data, client data, user data, employee data,
        customer information, customers data, database dump, whole database, entire database""",
    ),
}
"""Nouns, as the words that make them up."""

GIVE = _words(
    """tell give show send reveal disclose provide share print display list export dump output read
    forward email mail say write spell encode encrypt translate recite repeat paste copy expose leak
    hand divulge state name type put append insert download upload post return report describe
    summarise summarize compile enumerate present pass submit furnish deliver supply gimme lemme
    quote mention communicate transmit dictate volunteer confide betray surrender release relay
    remind crack decrypt decode unmask uncover guess exfiltrate publish broadcast announce slip toss
    throw serve echo cat select embed attach transcribe whisper shout sing drop spill fill hack"""
)
"""Verbs of telling in their base form, since other forms report and do not request."""
LOOSE = _words(
    """return submit deliver supply serve release drop throw toss post put type name select attach
    pass report state fill present"""
)
"""Verbs of `GIVE` that are used for goods and payments too."""
GIVING = _words(
    """letting giving telling showing sending sharing providing revealing disclosing reading
    printing listing exporting dumping passing handing writing forwarding emailing mailing"""
)
"""Verbs that ask only with `me` after them, or `mind` before."""
GAVE = _words("gave told showed shared sent read let provided revealed")
"""Verbs that ask after `if you`."""
COMPARED = _words("above below more less higher lower over under between exactly")
"""Words after `is` in a guess at a value."""
MAKE = _words("make create generate build prepare produce draw")
LISTINGS = _words("list report table spreadsheet file overview csv summary sheet document dossier")
"""Documents whose creation discloses something."""
SEND = _words("send email mail forward share deliver submit post upload pass")
FETCH = _words(
    """get fetch retrieve find look pull extract obtain grab query search collect gather getting scrape
    steal figure recover recovering"""
)
SENSE = _words(
    """see know have view learn hear receive need want require read access wish needs wants requires
    ask request trouble beg entitled seeking looking searching"""
)
"""Verbs for what the speaker would do with an answer; they ask only if the speaker does it."""
STATES_OF_MIND = _words("have know hear see view learn")
"""Verbs of `SENSE` that state something unless one of `MODALS` precedes them."""
MODALS = _words("can could may might let me us to like want must should would shall need ll")
ASK = _words("what which whose whats")

HANDLE = _words(
    """reset resetting change changing changed forgot forgotten revoke revoking rotate rotating
    update updating correct block blocking mask redact remove removing delete
    deleting expire expired lost protect verify check match matches validate compare approve raise
    replace renew disable store stored storing stores leaked exposed shared stolen
    accept accepts accepted reject rejects enter entered entering charge charged refund add pay
    tokenise invalidate lock unlock treat set setting restore
    flag grant cancel transfer complete encrypt keep secure use uses used using save saved saving
    handle contain contained containing contains issue hash"""
)
"""Verbs that handle a secret without disclosing it. The nearest verb decides."""
TURN = _words(
    """if whether why when because how who where policy policies rule rules procedure question
    questions talk complain complaint concern concerned training advice requirements requirement
    standards standard practice practices difference reason purpose risk risks"""
)
"""After these the sentence is about something else."""
ABOUT_DATA = _words(
    """policy policies reset resets rule rules requirement requirements length strength manager
    expiry expiration rotation change changes field fields format protection link links complexity
    update updates attempt attempts issue issues problem problems error errors page form recovery
    increase raise payment limit limits budget count authentication prompt generator strong
    storage encryption masking charge charges transaction transactions offer offers application
    applications option options fee fees payments bill bills locked protected protection"""
)
"""A noun before these is not a datum: `password policy`."""
FRESH = _words("new temporary initial time fresh replacement another reset forgotten lost stolen")
"""A secret that does not exist yet, or is gone."""
DONE_TO = _words(
    """changed updated corrected verified removed deleted masked reset revoked rotated fixed sent paid
    approved received processed blocked redacted expired checked replaced cancelled canceled"""
)

ADJECTIVES = _words(
    "stored saved shared leaked exposed correct complete used lost stolen cancelled accepted"
)
"""Acts that directly before a noun only describe it: `all stored passwords`."""
MARKS = _words(
    """confirm reply response guess guessing grateful appreciate obliged interested curious wonder
    wondering digit digits character characters letter letters real actual begins starts story poem
    novel pretend imagine roleplay dialogue song riddle fiction hypothetically suppose"""
)
"""Words that ask without a verb of disclosure."""
REPORTERS = _words(
    """logs reports screens pages systems files forms records emails messages tools apps employees
    staff people users customers scripts services servers documents exports colleagues mails"""
)
"""Subjects of a verb that states something: `the logs show`."""
REPORTED = _words(
    "asks asked asking tells told tricks tricked urges urged requests requested wants"
)
ALLOWED = _words("allowed permitted ok okay legal forbidden prohibited acceptable fine safe")
DETERMINERS = _words("the a an this that my our your his her their no each every last next")

ME = _words("me us myself")
MINE = _words("my mine own")
SELF = _words("i me my mine myself")
FOREIGN = _words(
    """another someone somebody else anyone anybody others his her hers their theirs neighbour
    neighbor wife husband ex boyfriend girlfriend partner spouse friend colleague coworker boss
    manager daughter son brother sister mother father mom mum dad girl guy lady man woman he she
    they him them stranger ceo cfo cto director president whoever whom mr mrs ms dr"""
)
"""People other than the speaker."""
ROLES = _words(
    """customer client user employee passenger traveller traveler guest member subscriber patient
    tenant student worker contractor applicant candidate person cardholder holder visitor recipient
    sender buyer caller participant agent coworker"""
)
MANY = _words(
    """all every each everyone everybody entire whole any everything customers clients users employees
    passengers travellers travelers guests members subscribers patients tenants students workers
    contractors applicants candidates people persons staff colleagues cardholders others managers
    team board executives directors everybody's personnel"""
)
PLACES = _words(
    """vendor supplier seller store shop branch office support company department service hotel
    airline carrier courier bank your website warehouse merchant manufacturer restaurant
    delivery shipping billing ip web mac url"""
)
"""Owners whose data are not personal."""
ADDRESSING = _words("i we me us you your u ya please plz pls kindly thanks")

"""With these a sentence turns to the agent."""
EXCUSED = _words(
    """wrong incorrect invalid declined mistake gave given typed mistyped typo works work fails
    failed fail broken phishing leak breach incident entitled eligible allowance"""
)
"""Words of a sentence about trouble with a secret."""
PLURAL_DATA = _words(
    """salaries wages payslips paychecks numbers addresses birthdays dates certificates
    records statements diagnoses incomes earnings reviews"""
)
"""Private data in the plural, which belong to many people."""
TOLD = _words("sent gave told showed asked charged ask charge call let help")
"""Before `me`, these do not request what follows."""
NO_OWNERS = _words("it that what who there here let today tomorrow company month year week how")
"""Words before `'s` that are not owners of personal data."""
NEGATIONS = _words("not never without nor neither cannot")
ENCOURAGED = _words("hesitate refuse forget fail worry bother afraid mind need")
"""`Do not hesitate to` denies nothing."""
DESTINATIONS = _words("to at via using onto on by")
"""Words before a destination, which is not what is disclosed."""
LEADING = _words("access answer answers look glance peek entitled")
"""Words that make `to` and `at` lead to what is asked for."""
STATES = HANDLE | TURN | _words("is are do does did has")
"""A sentence with one of these has a verb."""
NOT_NAMES = _words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december please the a an in and or my i hi hello
    dear thanks json sql csv xml english french german spanish"""
)

VOCABULARY = (
    frozenset(word for phrase in NOUNS for word in phrase)
    | GIVE | GIVING | MAKE | FETCH | SENSE | ASK | HANDLE | TURN | ABOUT_DATA | ME | MINE | SELF | FOREIGN
    | ROLES | MANY | PLACES | NO_OWNERS | NEGATIONS | DESTINATIONS | NOT_NAMES
    | _words("admin administrator root server credit debit of for with from is are does do you")
)  # fmt: skip
"""Every known word; others are read as names or ignored."""

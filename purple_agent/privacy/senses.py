"""Senses: what a word means to the learned reader, so that what it learns of one holds for its kin."""

from __future__ import annotations

from collections.abc import Mapping

SENSES: Mapping[str, str] = {
    "secret": """
        id rsa, recovery word, magic word, admin panel, types to get in, type to get in, punch in,
        would he type, log in with, logs in with, keys to, whatever string, folder of secrets,
        password hint, password, passwords, pass word, passwd, passcode, passphrase, pass phrase,
        pwd, pw, pass         key, credential, cred, login, log in detail, sign in detail, logon,
        secret, api key, apikey, api token, api secret, client secret, shared secret, secret key,
        private key, encryption         key, decryption key, signing key, live key, license key,
        licence key, product key, access         key, ssh key, pgp key, gpg key, host key, master
        key, root key, service key, recovery key, bitlocker key, wallet key, master password, access
        token, auth token, bearer token, session         token, refresh token, security token,
        session cookie, session id, environment variable, env         variable, env var, env file,
        pem file, pem, keystore, key file, certificate key, connection         string, system
        prompt, hidden instruction, hidden prompt, seed phrase, recovery phrase, mnemonic, vault
        content, keychain, htpasswd, shadow file, hash of the password, password         hash,
        webhook secret, pw hash, id_rsa, wallet phrase, security answer, security question, secret
        answer, secret question, memorable word, mother maiden name, maiden name, challenge
        answer, backup code, recovery code, verification code, two factor code, one time code, one
        time password, one time passcode, otp, totp, mfa code, 2fa code, authenticator code, sms
        code, unlock code, unlock pattern, lock code, swipe pattern, environment of, what's the
        code, what is the code, the code, your configuration, how you were configured, which number
        open, words above, what were you told, your instruction, your prompt""",
    "secret?": "token, key, digit, stars, asterisk",
    "code": """
        pin, pins, pin code, pin number, access code, entry code, door code, gate code, alarm code,
        keypad code, lock combination, safe combination, safe code, vault code, locker code, garage
        code, disarm code, entry pin, card pin, voicemail pin, building code, wifi key, wi fi key,
        wifi code, network key, wpa key, code word, codeword, override code, security code,
        activation code, door pin, keypad""",
    "code?": "combination, alarm, dial",
    "card": """
        digits on the company card, numbers on the card, card number, credit card number, debit card
        number, credit card data, card data, card         detail, card info, card information,
        credit card detail, debit card detail, credit card         info, cvv, cvc, cvv2, cvc2, card
        digits, sixteen digits, 16 digits, long number, three         digits on the back, security
        digits, digits on the back, expiry date, card expiry, pan         number, full pan, track
        data, full card, card verification value, social security number, social security, social,
        ssn, ss number, social insurance number, national insurance number, ni number, nhs number,
        itin, cpf, sin number, aadhaar""",
    "ident": """
        national         insurance number, passport number, passport, tax id, tax number, tin,
        national         id, national id number, id number, id card, identity card, identity card
        number, identity         document, driving licence, driving licence number, driver license,
        driver licence, drivers         license, driver license number, licence number, license
        number, licence plate, license         plate, number plate, plate number, registration
        plate, visa number, residence permit, green         card number, work permit, immigration
        status, visa status, citizenship, nationality, birth         certificate, medicare number,
        health insurance number, insurance number, fingerprint, biometric, voter id""",
    "ident?": """
""",
    "pay": """
        salary, wage, pay slip, payslip, pay stub, paystub, payroll, paycheck, pay check,
        compensation, income, bonus, bonuses, earn, earning, commission, take home, takes home, take
        home pay, base pay, pay grade, pay band, pay rate, hourly rate, pay rise, stock option,
        stock grant, equity grant, severance, severance package, pay package, salary band,
        remuneration, stipend, pension, pension pot, on file pay, overtime pay, gross pay, net pay,
        garnishment, wage garnishment, payout, settlement sum, settlement amount, tax return, tax
        bracket, w2, w 2, p60, p45, day rate, total comp, make a year, makes a year, make a month,
        makes a month, dividend, inheritance""",
    "pay?": "raise, allowance, comp, paid, pays",
    "money": """
        solvent, inherit, inheritance, tax problem, card declined, share of the profit, revenue,
        bank with you, bid, bank account, bank account number, bank detail, bank data, bank
        information, iban, sort         code, routing number, account number, account balance, bank
        statement, account statement, credit score, credit history, credit report, credit limit,
        credit rating, debt, owe, owes, net worth, wealth, arrears, overdraft, bankrupt, bankruptcy,
        insolvency, child support, alimony, transaction history, card statement, credit card
        statement, donation, donate, gambling, afford, rent arrears, missed payment, financial
        situation, financial trouble, portfolio, holdings, crypto wallet, withdrew, withdrawn,
        withdrawal""",
    "money?": """
        balance, loan, mortgage, saving, overdue, transaction, spending, spend, spent, behind on,
        deposit""",
    "health": """
        ultrasound, morning after pill, pill, crying, drinks, vegetarian, a patient of, wheelchair,
        hearing aid, patient of yours, blood, physio, medical record, medical history, medical file,
        medical data, health record, health data, diagnosis, diagnoses, diagnosed, diagnose,
        prescription, prescribe, illness, disease, pregnant, pregnancy, off sick, sick leave, sick
        note, sick day, sickness, disability, disorder, hiv, aids, std, cancer, tumour, tumor,
        biopsy, therapy, therapist, therapy note, psychiatrist, psychiatric, mental health,
        depression, depressed, anxiety, burnout, breakdown, rehab, addiction, addict, alcoholic,
        alcohol, drinking problem, drug test, medication, surgery, blood type, blood test, blood
        pressure, lab result, test result, x ray, scan result, mri, allergy, allergic, vaccine,
        vaccinated, vaccination, birth control, abortion, miscarriage, fertility, ivf,
        contraception, symptom, infection, infected, covid, diabetes, diabetic, epilepsy, epileptic,
        asthma, insulin, dosage, dose, counselling, counseling, counsellor, accommodation, medical
        particulars, fit note, clinical note, bmi, disabilities, dementia, autism, adhd, patient
        file, discharge letter, discharge         summary, referral letter, come back positive,
        tested for drug, off since, been ill, under the weather""",
    "health?": """
        medical, health, condition, expecting, sick, drug, medicine, treatment, treated,
        operation, hospital, clinic, ward, doctor note, weight, ill, injury, injured""",
    "home": """
        home address, private address, personal address, residential address, street address,
        reside, house number, flat number, apartment number, neighbourhood, where to find, hideout,
        address of residence, holiday home, postcode, post code, postal code, which flat, which
        apartment""",
    "home?": "live, lives, living, lived, residence, home, moved to, new place, shelter",
    "birth": """
        date of birth, birth date, birthdate, birthday, dob, born, how old, star sign, birth year,
        year of birth""",
    "birth?": "birth, age, old, turning",
    "contact": """
        phone number, telephone number, mobile number, cell number, cell phone number, cellphone
        number, personal phone, private phone, personal mobile, personal cell, private number, home
        phone, home number, private email, personal email, private e mail, personal e mail, private
        mobile, direct line, direct number, contact detail, contact data, contact information,
        contact info, handset, whatsapp, whatsapp number, personal number, landline, social media,
        social media account, facebook, instagram, linkedin, tinder, dating profile, snapchat,
        emergency contact, next of kin""",
    "contact?": "cell, handle",
    "reach": """
        phone, telephone, mobile, email, e mail, email address, e mail address, mail address,
        address, addresses, number, delivery address, billing address, shipping address, username,
        user name, zip code, zip, profile, payment method, credit card, debit card, amex, last four,
        account""",
    "family": """
        marital status, married, marriage, divorce, divorced, custody, affair, dating, relationship
        status, sleeping with, kid name, children name, childcare, adopted, adoption, spouse name,
        family situation, orphan, widow, widowed, dependant, beneficiary, beneficiaries, parentage,
        biological, birth mother, pregnant wife, love life, private life, personal life, children 's
        name, spouse 's name, kid 's name, wife 's name, husband 's name, child 's name, wedding
        date, weeks along, trying for a baby, maiden name, real mother, real father""",
    "family?": "single, relationship, engaged, dependent, family member",
    "belief": """
        religion, religious, faith, church, sexuality, sexual orientation, orientation, gay,
        lesbian, transgender, trans, gender identity, ethnicity, ethnic origin, ethnic, politics,
        political, party member, union member, union membership, voted, vote, atheist, muslim,
        jewish, christian, political view, beliefs""",
    "belief?": "race, union",
    "crime": """
        criminal record, criminal history, criminal, convicted, conviction, arrest, arrested,
        prison, jail, probation, parole, restraining order, background check, police record,
        offence, offense, court case, felony, dui, caught stealing, fraud case, witness statement,
        vetting result, drunk driving""",
    "crime?": "charged with, sentence",
    "staff": """
        cvs, hr note, note from hr, absence form, quit, planning to quit, turned sixty, probation,
        performance review, performance rating, performance record, performance score, review score,
        appraisal, disciplinary record, disciplinary file, disciplinary, disciplinary action,
        personnel file, personnel record, personal file, hr file, hr record, employee file,
        employment record, work history, written warning, formal warning, warning letter, grievance,
        complaint against, complained about, resignation letter, notice letter, why was fired,
        fired, sacked, laid off, let go, redundancy list, layoff list, termination letter, exit
        interview note, interview note, cv, resume, reference letter, application form, cover
        letter, leave request, leave record, attendance record, absence record, timesheet,
        psychometric, appraisal form, probation review, demoted, appraisals, pip, improvement plan,
        whistleblower, whistle blower, hotline, anonymous, informant, complainant, job offer,
        employment contract, notes from hr, interview score, job application, off work, leave the
        company, left the company, applied for another job, applied for a job, receive a warning, in
        the complaint, exit interview, wrote the review, bad review, gets more money, called in sick""",
    "staff?": "rating, dismissed, attendance, absence, assessment result, reported, contract, investigation",
    "talk": """
        text message, private message, direct message, dm, dms, chat history, chat log, private
        conversation, call history, call log, call record, phone record, call recording, voicemail,
        inbox, mailbox, browsing history, search history, browser history, internet history, watch
        history, viewing history, diary, private diary, correspondence, email thread, slack message,
        teams message, private chat, photo, private photo, selfie, camera footage, cctv, wrote to,
        said about, search term""",
    "talk?": """
        chat, conversation, recording, emails, picture, video, footage, notes, letters, texts,
        messages""",
    "moves": """
        walk home, walks home, drop off, parks, which room, come home, comes home, shift pattern,
        check into, been sleeping, lunch with, seen with, gone to, whereabouts, current location,
        location history, gps, gps position, badge log, badge record, badge data, access log, door
        log, clocked, itinerary, travel plan, travel history, hotel         room, room number, seat
        number, which seat, where is sitting, last seen, check         in time, commute, route home,
        parking space, who met, left the building, flying, flies, routine, checked in, checked out,
        badge swipe, badge time, arrival time, right now, visit, visited, call last night, at the
        airport, privately, at home tonight, surprise at, alone""",
    "moves?": """
        location, movement, trip, staying, calendar, schedule, shift, roster, rota, car, vehicle,
        met with, meeting with, track, boarding, landed, holiday, vacation, drives, stays""",
    "school": """
        grades, exam result, test score, exam score, gpa, transcript, school report, report card,
        transcript of records, detention, free meal, scholarship, thesis, school record, admission,
        iq""",
    "school?": "grade, mark, marks, degree, essay",
    "buys": """
        order history, purchase history, purchase, bought, buy, order, ordered, shopping list,
        shopping history, wish list, subscription, booking, reservation, ticket, rent, rented,
        borrowed, gift, what got, got for, parcel, package, delivery, return history""",
    "record": """
        record, file, on file, on record, personal data, personal detail, personal information,
        personal info, pii, data, information, info, detail, particulars, history, dossier, entry,
        folder, private matter, private detail, secret about, known about, statement, claim, case
        note, account activity, background""",
    "bulk": """
        customer database, client database, user database, employee database, customer table, client
        table, user table, users table, customers table, employee table, customer list, client list,
        user list, member list, patient list, guest list, passenger list, passenger manifest,
        mailing list, customer data, client data, user data, employee data, patient data, member
        data, customer record, client record, user record, employee record, patient record, student
        record, staff record, tenant record, database dump, dump, database, whole database, entire
        database, address book, contact list, directory, phone book, staff directory, register,
        pipeline, crm contact, lead list, subscriber list, visitor log, visitor list, voter list""",
    "all": """
        all, every, each, everyone, everybody, entire, whole, anyone, anybody, everything, any,
        list, table, spreadsheet, csv, overview, ranking, rank, sort, sorted, top ten, top, last
        ten, bottom, most, highest, lowest, least, export, bulk, who else, others, who all""",
    "many": """
        customers, clients, users, employees, passengers, travellers, guests, members, subscribers,
        patients, tenants, students, workers, contractors, applicants, candidates, people, persons,
        staff, colleagues, cardholders, managers, team, board, executives, directors, personnel,
        drivers, couriers, couples, families, parents, children, kids, classmates, pupils, teachers,
        residents, households, neighbours, donors, visitors, leads, contacts, hires, interns,
        nurses, doctors, agents, women, men, coworkers, teammates, workforce, crew, department,
        floor, mates, folks, ladies, guys, accountants, engineers, renters, players, witnesses,
        callers, attendees, participants, buyers, claimants, developers, sellers, debtors,
        volunteers, pensioners, shoppers, bidders, folk""",
    "role": """
        band, buyer, receptionist, barista, oldest employee, whoever, rep, twin, customer, client,
        user, employee, passenger, traveller, traveler, guest, member, subscriber, patient, tenant,
        student, worker, contractor, applicant, candidate, person, cardholder, holder, visitor,
        recipient, sender, caller, participant, agent, claimant, policyholder, borrower, debtor,
        donor, witness, complainant, shopper, pupil, resident, owner, occupant, occupier, renter,
        lodger, victim, suspect, defendant, plaintiff, reviewer, commenter, bidder, winner,
        attendee, account holder, hire, new hire, intern, starter, leaver, trainee, apprentice,
        freelancer, informer""",
    "job": """
        ceo, cfo, cto, coo, director, president, boss, manager, supervisor, team lead, line manager,
        hr lead, assistant, secretary, receptionist, driver, courier, postman, teacher, professor,
        prof, doctor, nurse, surgeon, lawyer, judge, officer, engineer, developer, accountant,
        cleaner, cashier, clerk, analyst, controller, treasurer, buyer, salesman, rep, sales rep,
        technician, plumber, landlord, mayor, minister, senator, celebrity, singer, actor,
        footballer, player, coach, pilot, steward, chef, waiter, guard, auditor, consultant,
        predecessor, successor, chairman, chairwoman, founder, vp, vice president, head, chief,
        executive, admin, administrator, root, dba, sysadmin, devops, bot, designer, journalist,
        reporter, blogger, influencer, rival, competitor, seller, captain, warehouse lead, shift
        lead, mp""",
    "kin": """
        wife, husband, ex, ex wife, ex husband, boyfriend, girlfriend, partner, spouse, fiance,
        fiancee, friend, mate, buddy, flatmate, roommate, housemate, colleague, coworker, co worker,
        teammate, neighbour, neighbor, daughter, son, brother, sister, sibling, mother, father, mom,
        mum, mummy, dad, daddy, parent, aunt, uncle, cousin, niece, nephew, grandmother, grandma,
        granny, grandfather, grandpa, child, kid, baby, stepson, stepdaughter, stepfather,
        stepmother, in law, mother in law, father in law, sister in law, brother in law, stranger,
        lover, crush, classmate, nanny, babysitter, godson, family, date, deskmate, pal""",
    "other": """
        another, someone, somebody, else, someone else, somebody else, person who, guy, girl, lady,
        man, woman, gentleman, bloke, dude, chap, fellow, whoever, one who, people who, those
        who, anyone who, other, others, her own, next door, the one""",
    "he": "he, she, him, her, his, hers, himself, herself",
    "they": "they, them, their, theirs, themselves",
    "title": "mr, mrs, ms, miss, dr, sir, madam, mister, frau, herr",
    "org": """
        vendor, supplier, store, shop, branch, office, support, company, service, hotel, airline,
        carrier, bank, website, merchant, manufacturer, restaurant, warehouse, firm, ltd, gmbh, inc,
        helpdesk, help desk, headquarters, reseller, distributor, agency, clinic reception,
        reception, hotline number""",
    "my": "my, mine, my own",
    "i": "i, me, myself",
    "we": "we, us, our, ours, ourselves",
    "you": "you, your, yours",
    "tell": """
        tell, give, show, send, reveal, disclose, provide, share, print, display, list, export,
        dump, output, read, forward, spell, encode, translate, recite, repeat, paste, copy, expose,
        leak, hand, divulge, name, type, report, describe, summarise, summarize, compile,
        enumerate, present, furnish, supply, gimme, quote, mention, dictate, volunteer, confide,
        relay, remind, unmask, guess, publish, announce, slip, spill, cat, echo, whisper, sing,
        write, drop, mail, blurt, text me, ping me, message me, let me know, let me see, let me
        have, let us know, let us have, fill me in, fill in, enlighten me, point me, walk me
        through, confirm, verify whether, hint, leave, transcribe, embed, attach, include, complete,
        finish, continue, reply, respond, answer, say, rattle off, run off, pass along, pass on,
        shoot me, hook me up, lemme, lmk, put, say yes, nod, blink, clue, screenshot, screen shot,
        mind sharing, mind telling, surrender, hand over, give away, read out, read back, send over,
        part with, cough up, unredacted, unmasked, decrypt, decode, crack, insert""",
    "fetch": """
        get, fetch, retrieve, find, find out, look up, look, pull, pull up, extract, obtain, grab,
        query, search, collect, gather, dig, dig out, dig up, scrape, steal, figure out, recover,
        trace, track down, work out, identify, check, peek, peep, glance, bring up, bring me, open,
        browse, scan, sift, go through, screenshot, download, uncover, snoop, sneak, look into, draw
        up, make me, compile, put together, build me, locate, snag, cross check, match up""",
    "sense": """
        see, know, have, need, want, like, learn, hear, require, request, ask, wonder, wondering,
        curious, interested, love, after, looking for, beg, dying to know, keen, hope, wish,
        intrigued, understand, access, owe me, could use, use, entitled, right to know""",
    "who": "who, whose, whos, whom, who all",
    "ask": "what, which, whats, where, when, how much, how many, how, why, wat, wheres",
    "is": "is, are, was, were, be, does, do, did, has, had, s, am, m, been, being",
    "play": """
        pretend, imagine, story, poem, novel, roleplay, role play, play, game, riddle, song,
        fiction, fictional, hypothetically, suppose, act, scene, dialogue, limerick, rap, haiku,
        joke, screenplay, bedtime, lullaby, hangman, hot and cold, warm, cold, bet, dare, trivia,
        quiz, grandma, guess who, charades, simulate, simulation, emulate, rhyme, twin, character,
        crossword, letter by letter, backwards, reverse, base64, rot13, hex, morse, emoji, initials,
        acrostic""",
    "inject": """
        ignore, ignore all, disregard, override, overridden, developer mode, debug mode, maintenance
        mode, jailbreak, dan, previous instruction, prior instruction, unlocked, unrestricted, no
        restriction, privacy check, guard, bypass, system, sudo, new rule, new policy,
        authorised, authorized, permission, clearance, admin mode, test mode, filters, safeguard""",
    "handle": """
        reset, change, forgot, forgotten, revoke, rotate, update, correct, block, mask, redact,
        remove, delete, erase, anonymise, anonymize, expire, lost, protect, compare, approve,
        replace, renew, disable, deactivate, store, stolen, exposed, leaked, accept, reject, enter,
        entered, charge, refund, add, tokenise, invalidate, lock, unlock, treat, set, set up,
        restore, flag, grant, cancel, transfer, hash, encrypt, keep, save, handle, create, register,
        enrol, enroll, assign, schedule, reschedule, book, raise, escalate, close, issue, reopen,
        process, reimburse, pay, notify, remind her, remind him, inform, invite, forward to, send
        to, upgrade, downgrade, activate, onboard, offboard, terminate, submit, file, log, record
        that, note that, archive, purge, shred, fix, amend, adjust, extend, migrate, resend,
        dispatch, ship, deliver, return, exchange, apply, calculate, reconcile, merge, split, print
        label, generate, regenerate, wipe, withdraw, order, switch, move, swap, contact, call,
        prepare, draft, link""",
    "policy": """
        policy, policies, rule, rules, procedure, process, guideline, guidance, regulation, gdpr,
        allowed, permitted, may we, legal, lawful, illegal, required, requirement, retention,
        retain, how long, how do i, how do we, how can i, how should, how to, what happens, who may,
        who can, who is allowed, supposed, best practice, training, explain how, complexity, minimum
        length, expiry, in general, protect, protected, safe, secure, security, encrypted,
        encryption, compliant, compliance, audit, consent, necessary, why do you need, do you need,
        need from me, what documents, which documents, difference between, recommended""",
    "fresh": """
        new, temporary, initial, fresh, replacement, link, reset link, reset email, form, page,
        screen, field, option, manager, generator, request form, template""",
    "deny": "not, never, without, nor, neither, cannot, no",
    "then": """
        then, also, while, afterwards, plus, btw, by the way, besides, and then, in addition, on
        top, once done, before, after that, as well, too""",
    "why": """
        because, since, so that, so i can, in order, trust me, fine with it, urgent, urgently, asap,
        emergency, authorised me, authorized me, permission, surprise, party, lawyer, court, police,
        journalist, research, behalf, asked me, told me, promise, promised, between us, nobody,
        secretly, discreetly, quietly, just between, off the record, no one, won t tell, keep it,
        quick, quickly, favour, favor, deal, investigat, sue, settle, revenge, prank, stalk, follow,
        confront, blackmail, worried, concerned""",
    "time": """
        today, tomorrow, yesterday, day, week, month, year, quarter, morning, evening, night,
        january, february, march, april, may, june, july, august, september, october, november,
        december, monday, tuesday, wednesday, thursday, friday, saturday, sunday, weekend, hour, it,
        that, this, there, here, one, world""",
    "ends": """
        approval, status, deadline, invoice, receipt, expense, budget, shipment, warranty, policy
        document, tracking number, order number, meeting, laptop, contract number, quote, catalogue,
        price, stock, inventory, delay, refund status, claim number, flight status, itinerary
        change, plan, tariff, roaming, data plan, router, signal, upgrade, points, miles, voucher,
        coupon, discount""",
}
"""Senses, and the words and phrases that have them; of a word in several, the first counts.

A sense with a question mark is that of words which mostly mean something else.
"""

GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("secret", "code", "card"), "KEY"),
    **dict.fromkeys(("secret?", "code?"), "KEY?"),
    **dict.fromkeys(
        ("ident", "pay", "money", "health", "home", "birth", "contact", "family", "belief",
         "crime", "staff", "talk", "moves", "school"),
        "PRIVATE",
    ),
    **dict.fromkeys(
        ("ident?", "pay?", "money?", "health?", "home?", "birth?", "contact?", "family?",
         "belief?", "crime?", "staff?", "talk?", "moves?", "school?"),
        "PRIVATE?",
    ),
    **dict.fromkeys(("reach", "buys", "record"), "MILD"),
    "bulk": "BULK",
    **dict.fromkeys(("all", "many"), "MANY"),
    **dict.fromkeys(("kin", "he", "title", "name", "owner"), "OTHER"),
    **dict.fromkeys(("role", "job"), "ROLE"),
    **dict.fromkeys(("my", "i", "we", "self"), "SELF"),
    **dict.fromkeys(("tell", "fetch"), "TELL"),
    "who": "ask",
}  # fmt: skip
"""Senses that mean much the same; a sense that is not here is its own group."""

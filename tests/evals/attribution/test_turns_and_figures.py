"""Faults in talks where all speak in turn, refusals in four languages, and figures that give a fault away."""

from dataclasses import replace

import pytest

from evals.attribution.outcomes import log_of
from evals.attribution.ranking import attribute
from evals.attribution.refusals import refusal_in
from evals.attribution.values import is_calculated
from evals.base import EvaluationContext
from evals.trace import USER, Trace, Utterance
from tests.evals.attribution.test_attribution import first, step

SHOP = (
    (USER, "How many loaves can we sell on Friday?"),
    ("baker", "The oven takes 240 loaves a morning."),
    ("miller", "Flour is short: that costs us 30 loaves."),
    ("clerk", "Then 210 loaves are left."),
    ("driver", "Two hotels have ordered 45 of them."),
    ("clerk", "Leaves 165 for the shop."),
    ("lead", "We can sell 165 loaves."),
)


def talk(*lines, expected=None, **changed):
    """A talk in turn, with some messages changed by their number: `m2="..."`."""
    said = [
        Utterance(step_id=f"message-{at}", speaker=who, text=changed.get(f"m{at}", text))
        for at, (who, text) in enumerate(lines)
    ]
    return EvaluationContext(
        trace=Trace(trace_id="t"),
        messages=tuple(said),
        answer=said[-1].text,
        expected_answer=expected,
    )


def cues_of(context):
    found = attribute(log_of(context)).candidates
    return {sign.cue for each in found for sign in each.signs}


def test_a_message_that_says_nothing_is_a_fault_where_all_speak_in_turn():
    assert first(talk(*SHOP, m2="")) == ("miller", "message-2", "no_answer")


def test_the_first_turn_of_a_briefing_is_not_one_that_says_nothing():
    briefing = (
        "# General Task\nCount the birds.\n\n## Plan and suggestions from manager\nCount birds.\n"
        "## Constraints\n- be quick\n"
    )
    context = talk(("expert", briefing), ("checker", "There are 12 birds."))
    assert "no_answer" not in cues_of(context)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (1, "Lo siento, no puedo ayudar con eso."),
        (2, "Das kann ich leider nicht beantworten."),
        (3, "503 Service Unavailable"),
        (4, "The order book is closed to me at the moment."),
        (5, "Je ne dispose pas de ces chiffres."),
        (3, "I am sorry, but with 240 and 30 alone I am not able to say what is left."),
    ],
)
def test_a_refusal_is_laid_at_its_message_where_all_speak_in_turn(at, said):
    found = first(talk(*SHOP, m6="We can sell (unknown) loaves.", **{f"m{at}": said}))
    assert found == (SHOP[at][0], f"message-{at}", "declined")


def test_whoever_is_led_may_report_that_nothing_was_found():
    lines = [(USER, "Who wrote it?")]
    for number in range(5):
        lines += [
            ("boss", "Next page."),
            ("boss", f"Search page {number}."),
            ("surfer", f"Page {number}: not found."),
        ]
    assert "declined" not in cues_of(talk(*lines, ("boss", "It was Ada.")))


REFUSALS = (
    "I can't share that.",
    "Sorry, the ledger does not open for me.",
    "We do not have access to these rooms.",
    "No records under this name.",
    "My account is not authorised.",
    "Request quota exceeded.",
    "Error: upstream failed",
    "My search came back with zero rows.",
    "Exception while reading the shelf list. Aborting.",
    "I'm having trouble opening that file; it seems to be corrupted.",
    "I'd need a password for that drawer.",
    "I was told not to hand these figures out.",
    "There is insufficient context to work this out.",
    "That is beyond what I am here for.",
    "The lookup failed.",
    "502 Bad Gateway",
    "The scale is offline.",
    "I have nothing for you.",
    "Couldn't find anything.",
    "I'd rather not say.",
    "It timed out again.",
    "Not my job, I am afraid.",
    "I must decline.",
    "The gauge is not responding.",
    "No idea.",
    '{"error": {"code": 12}}',
    '{"ok": false}',
    "Dazu liegen mir keine Daten vor.",
    "Leider unbekannt.",
    "Das weiß ich nicht.",
    "Darauf habe ich keinen Zugriff.",
    "Der Dienst ist nicht erreichbar.",
    "Ich bin dafür nicht zuständig.",
    "Keine Auskunft möglich.",
    "No tengo acceso al registro.",
    "El sistema no responde.",
    "Desconozco ese dato.",
    "No consta en el archivo.",
    "Lo siento, hoy imposible.",
    "Désolé, je ne peux pas.",
    "Je ne sais pas.",
    "Aucune information à ce sujet.",
    "Le service est indisponible.",
    "I am not going to answer that.",
    "I will not be answering this.",
    "That's not something I can tell you.",
    "I have no figures on that.",
    "Unfortunately nothing came up.",
    "I'd leave the sums to somebody else.",
    "Keine Ahnung.",
    "Das entzieht sich meiner Kenntnis.",
    "Dazu kann ich nichts sagen.",
    "Ni idea.",
    "No lo sé.",
    "Aucune idée.",
    "Je n'en sais rien.",
    "Cela ne relève pas de ma compétence.",
)
REPLIES = (
    "return: refused",
    "- fee: 12.90\n- return: refused",
    "The bridge was closed in 1863.",
    "Thirty chairs.",
    "The shop closes at noon.",
    "We close early on Friday.",
    "Yes, the wine cellar has been emptied.",
    "Rowan",
    "Approved.",
    "Our errors are few this year.",
    "The pass over the mountain is open.",
    "Nothing else is needed.",
    "All exits are closed, as you ordered.",
    "The lift goes down to the cellar.",
    "The report on the failed harvest is ready.",
    "The museum remains open on Sundays.",
    "The price does not include breakfast.",
    "With one exception, all of them have arrived.",
    "The road beyond the river is dry.",
    "The village lies outside the valley.",
    "No entry fee is charged.",
    "No errors found in the draft.",
    "Approved without any reservation.",
    "Keine Einwände.",
    "Sin objeciones.",
    "Give the keys to somebody else.",
    "The buses stop here.",
    "All guests agree, no complaint.",
    "Fuera de temporada es más barato.",
    "The lid would not close at first, now it does.",
    "Everything is included.",
    '{"litres": 320}',
    '{"status": "ok"}',
    '{"rooms": ["oak", "elm"], "error": null}',
    "Der Saal ist frei.",
    "Alles ist bereit.",
    "Keine Stühle fehlen.",
    "Son treinta sillas.",
    "La sala está libre.",
    "Hay que pagar hoy.",
    "La salle est libre.",
    "Rien ne manque.",
    "It will not rain on Sunday.",
    "The hall will not be needed.",
    "Prices are down this week.",
    "You cannot go wrong with Rowan.",
    "Nothing went wrong.",
    "Sorry for the delay: the oak room.",
    "The children have to pass the mill.",
    "Nothing on Monday is booked.",
    "The road is not supposed to be wide.",
    "The claim is denied.",
    "Leave the door to the cellar open.",
    "The doors open without permission.",
    "No hay cambios.",
    "No sé si es mucho, pero son treinta.",
    "La puerta se abre sin permiso.",
    "Leider nur die Eiche.",
)


@pytest.mark.parametrize("said", REFUSALS)
def test_what_declines_is_recognised(said):
    assert refusal_in(said) is not None


@pytest.mark.parametrize("said", [each for each in REPLIES if "refused" not in each])
def test_an_ordinary_short_reply_is_no_refusal(said):
    assert refusal_in(said) is None


def test_something_added_that_nobody_had_spoken_of_is_found():
    said = "Flour is short: that costs us 90 loaves. This includes 60 for the circus in Vaduz."
    found = first(talk(*SHOP, m2=said, m6="We can sell 105 loaves."))
    assert found == ("miller", "message-2", "unasked")


@pytest.mark.parametrize(
    "said",
    [
        "Including the surcharge for nights, each loaf of the hotels counts as 45.",
        "Two hotels have ordered 45 of them, which includes 30 loaves for Friday.",
    ],
)
def test_an_addition_that_explains_the_only_figure_or_is_known_is_none(said):
    assert "unasked" not in cues_of(talk(*SHOP, m4=said))


def test_what_most_turns_add_is_no_sign():
    lines = [
        (who, f"{text} That includes {at} for the fair in Vaduz{at}.")
        for at, (who, text) in enumerate(SHOP)
    ]
    assert "unasked" not in cues_of(talk(*lines))


@pytest.mark.parametrize(
    ("at", "said", "last", "words"),
    [
        (3, "Then 180 loaves are left.", 135, "with 210, which follows from 240 - 30"),
        (5, "Leaves 185 for the shop.", 185, "with 165, which follows from 210 - 45"),
    ],
)
def test_the_figure_that_would_make_the_answer_right_is_found(at, said, last, words):
    changed = {f"m{at}": said, "m5": said if at == 5 else f"Leaves {last} for the shop."}
    context = talk(*SHOP, expected="165", m6=f"We can sell {last} loaves.", **changed)
    named = attribute(log_of(context)).candidates[0]
    assert (named.step_id, named.signs[0].cue) == (f"message-{at}", "repairs")
    assert words in named.signs[0].reason


def test_a_figure_that_was_given_otherwise_is_found():
    lines = (
        (USER, "We have 1800 litres. How many wheels at 12 litres each?"),
        ("lead", "There are 1500 litres."),
        ("press", "That makes 125 wheels."),
        ("lead", "125 wheels."),
    )
    named = attribute(log_of(talk(*lines, expected="150 wheels"))).candidates[0]
    assert (named.step_id, named.signs[0].cue) == ("message-1", "repairs")


@pytest.mark.parametrize("expected", ["4711", None, "165 or 170"])
def test_without_a_figure_that_leads_to_the_right_answer_nobody_is_named(expected):
    wrong = {"m3": "Then 190 loaves are left.", "m5": "Leaves 145.", "m6": "145 loaves."}
    assert "repairs" not in cues_of(talk(*SHOP, expected=expected, **wrong))


def test_a_figure_that_only_its_speaker_knows_has_no_repair():
    followed = {"m3": "Then 190 loaves are left.", "m5": "Leaves 145.", "m6": "145 loaves."}
    wrong = talk(*SHOP, expected="165", m2="Flour is short: that costs us 50 loaves.", **followed)
    assert attribute(log_of(wrong)).agent is None


def test_percentages_are_only_calculated_where_they_are_spoken_of():
    lines = (
        (USER, "What is the price?"),
        ("stock", "It is 400."),
        ("rules", "Take off 15."),
        ("till", "So that makes 300."),
        ("lead", "It costs 300."),
    )
    assert "repairs" not in cues_of(talk(*lines, expected="340"))
    said = talk(*lines, expected="340", m2="Take off 15 %.")
    assert first(said) == ("till", "message-3", "repairs")


def asked(question, reply, **more):
    """A trace of one question beside two that were answered."""
    steps = (
        step(0, "lead", "one", "Which hall is free?", "The small hall is free."),
        step(1, "lead", "two", question, reply),
        step(2, "lead", "three", "Is today a Sunday?", "It is a Sunday."),
    )
    return EvaluationContext(trace=Trace(trace_id="t", steps=steps), **more)


@pytest.mark.parametrize(
    ("question", "reply", "cue"),
    [
        ("Bitte 1250 und 870 addieren.", "Zusammen 1590.", "underived"),
        ("Add 471 and 902 and take off 64 litres.", '{"mix": 791}', "underived"),
        ("Which is lowest? Larch 61, Rowan 38, Alder 74", "Larch is.", "miscalculated"),
        ("¿Cuál es más caro: Sol 20, Luna 35?", "Sol.", "miscalculated"),
    ],
)
def test_what_was_asked_for_is_calculated_again(question, reply, cue):
    assert first(asked(question, reply)) == ("two", "s1", cue)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Add 460 and 900 and take off 60 litres.", '{"mix": 1300}'),
        ("Please review: a settlement of 1157, that is 1457 less 300.", "Take off 250 more."),
        ("Which is lowest? Larch 61, Rowan 38, Alder 74", "Rowan, with 38."),
        ("Which is lowest? Larch 38, Rowan 38", "Larch."),
        ("Is the lowest or the highest due? Larch 61, Rowan 38", "Larch."),
    ],
)
def test_a_right_result_and_a_question_without_one_are_no_signs(question, reply):
    assert attribute(log_of(asked(question, reply))).agent is None


def test_who_was_handed_the_one_right_name_and_gives_the_wrong_one_is_named():
    context = asked(
        "Enter Rowan as first and confirm.",
        "Entered as first: Alder.",
        answer="We regrow Alder first.",
        expected_answer="We regrow Rowan first.",
    )
    assert first(context) == ("two", "s1", "lost_value")
    offered = replace(
        asked(
            "Take Rowan or Alder.",
            "Entered as first: Alder.",
            answer="We regrow Alder first.",
            expected_answer="We regrow Rowan first.",
        )
    )
    assert "lost_value" not in cues_of(offered)


@pytest.mark.parametrize(
    ("said", "is_wrong"),
    [
        ("240 - 30 = 180, so 180 are left.", True),
        ("240 - 30 = 210, so 210 are left.", False),
        ("(240 - 30) / 4 = 52", False),  # rounded
        ("From 240 and 30, hence 190.", True),
        ("From 240 and 30, hence 210.", False),
        ("By file 3-5 = 12 it is 210.", False),  # no calculation
    ],
)
def test_what_a_reply_writes_out_is_calculated_again(said, is_wrong):
    found = cues_of(talk(*SHOP, m3=said)) & {"miscalculated", "underived"}
    assert bool(found) == is_wrong


def test_who_wrote_out_a_right_calculation_of_a_wrong_figure_is_not_named():
    steps = (
        step(0, "lead", "store", "Boxes in store?", "95 boxes."),
        step(1, "lead", "yard", "Boxes in the yard?", "57 boxes."),
        step(2, "lead", "clerk", "33 lorries take 95 and 57 each?", "33 x (95 + 57) = 5016."),
    )
    context = EvaluationContext(
        trace=Trace(trace_id="t", steps=steps), answer="5016 boxes", expected_answer="4356 boxes"
    )
    assert attribute(log_of(context)).agent is None


def test_what_fills_the_gap_that_a_silence_left_is_not_the_fault():
    context = talk(
        *SHOP,
        expected="165",
        m2="",
        m3="Then 230 are left, with 12 for spoilage in Graz.",
        m5="Leaves 185.",
        m6="We can sell 185 loaves.",
    )
    assert first(context) == ("miller", "message-2", "no_answer")


@pytest.mark.parametrize(
    ("number", "given", "is_so"),
    [
        (3, (918, 377), False),
        (0.4, (918, 377), False),
        (1295, (918, 377), True),
        (8.82, (147, 6), True),
        (95.2, (8, 350, 34), True),  # grams as kilograms
    ],
)
def test_a_small_number_does_not_follow_from_everything(number, given, is_so):
    assert is_calculated(number, given) == is_so


def test_times_of_day_are_no_figures_to_calculate_with():
    lines = (
        (USER, "When does it land?"),
        ("pier", "The ramp is at 08:45."),
        ("pilot", "The crossing takes 51 minutes today."),
        ("bridge", "13 minutes for the tide."),
        ("lead", "It lands at 09:46."),
    )
    assert "repairs" not in cues_of(talk(*lines, expected="It lands at 09:14."))


@pytest.mark.parametrize(
    "hostile", ["1+", "(", "((1", "(1+", " 1 -", "1 + ( ", "1 + 1 = ", "A ", "Aa ", "a: "]
)
def test_hostile_texts_of_any_length_name_nobody(hostile):
    said = (hostile * 20_000)[:20_000]
    assert attribute(log_of(talk(*SHOP, m1=said))).agent in (None, "baker")


@pytest.mark.parametrize("figures", [16, 17, 40])
def test_more_figures_than_can_be_calculated_with_have_no_repair(figures):
    lines = [(f"a{at}", f"We have {101 + at * at * 7} boxes.") for at in range(figures)]
    context = talk(*lines, ("lead", "We get 7777 boxes."), expected="8888 boxes")
    assert "repairs" not in cues_of(context)


def test_a_faultless_turn_more_changes_no_name():
    silent = list(SHOP)
    silent[2] = ("miller", "")
    for at in range(3, len(silent) + 1):
        more = [*silent[:at], ("porter", "The door is open."), *silent[at:]]
        assert first(talk(*more))[0] == "miller"


@pytest.mark.parametrize(
    "said",
    [
        "Flour is short: that costs us 90 loaves. 60 of them are for the circus tent in Vaduz.",
        "Flour is short: that costs us 90 loaves. I put 60 aside for the circus tent.",
        "Das kostet 90 Brote. 60 davon gehen an den Zirkus in Vaduz.",
    ],
)
def test_a_second_figure_with_a_purpose_of_its_own_is_found(said):
    found = first(talk(*SHOP, m2=said, m6="We can sell 105 loaves."))
    assert found == ("miller", "message-2", "unasked")


def test_a_second_figure_for_what_was_spoken_of_is_none():
    said = "Flour is short: that costs us 30 loaves. 20 of them are for the hotels on Friday."
    lines = [(USER, "How many loaves can we sell on Friday, beside those for hotels?"), *SHOP[1:]]
    assert "unasked" not in cues_of(talk(*lines, m2=said))


def test_who_alone_gives_no_figure_and_denies_something_is_where_to_look_first():
    said = "The store room is sealed during the audit."
    found = attribute(log_of(talk(*SHOP, m2=said, m6="We can sell 195 loaves.")))
    assert found.agent is None
    assert (found.candidates[0].agent, found.candidates[0].signs[0].cue) == ("miller", "declined")
    approved = talk(*SHOP, m4="Checked, no objection.")
    assert "declined" not in cues_of(approved)

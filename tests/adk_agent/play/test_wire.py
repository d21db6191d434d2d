"""Whole conversations over A2A with agents that take the τ² wire at its word."""

import json
import re

from adk_agent.play.evaluation import evaluate
from tau_bridge.wire import MESSAGES_LINE
from tests.fakes import scripted_agent, serve


def call(name, **arguments):
    return json.dumps({"name": name, "arguments": arguments})


def by_name(order, name):
    (item,) = (item for item in order["items"] if item["name"] == name)
    return item


def variant(product, **options):
    """The id of the available variant that has these options."""
    (found,) = (
        one["item_id"]
        for one in product["variants"].values()
        if one["available"] and one["options"] == options
    )
    return found


def exchange(asked):
    """Retail task 0: each result is read as JSON, and what is changed follows from what it says."""
    order_id = re.search(r"#W\d+", asked)[0]
    order = json.loads((yield call("get_order_details", order_id=order_id)))
    customer = json.loads((yield call("get_user_details", user_id=order["user_id"])))
    (payment_method_id,) = customer["payment_methods"]
    old, new = [], []
    for name, wish in {
        "Mechanical Keyboard": {"switch type": "clicky", "backlight": "none"},
        "Smart Thermostat": {"compatibility": "Google Assistant"},
    }.items():
        item = by_name(order, name)
        product = json.loads((yield call("get_product_details", product_id=item["product_id"])))
        old.append(item["item_id"])
        new.append(variant(product, **{**item["options"], **wish}))
    exchanged = json.loads(
        (
            yield call(
                "exchange_delivered_order_items",
                order_id=order_id,
                item_ids=old,
                new_item_ids=new,
                payment_method_id=payment_method_id,
            )
        )
    )
    while True:
        yield call("respond", content=f"Your order: {exchanged['status']}. Is that all?")


async def test_an_agent_that_reads_tool_results_as_json_passes_a_retail_task(make_deps, make_plan):
    conversations = {}

    def reply(text, context_id):
        if context_id in conversations:
            return conversations[context_id].send(text)
        conversations[context_id] = exchange(text.partition(MESSAGES_LINE)[2])
        return next(conversations[context_id])

    with serve(scripted_agent(reply)) as url:
        plan = make_plan(url, domain="retail", task_ids=("0",))
        report = await evaluate(plan, make_deps(), request="")
    (row,) = report.trials
    assert (row.reward, row.tool_calls, row.format_repairs) == (1.0, 5, 0)

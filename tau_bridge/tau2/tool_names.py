"""The tools of each τ²-bench domain, and which of them change its state.

A whitelist: the toolkits' classes have helpers beside the tools (`break_vpn`, `_get_user`) that
may not be called. The order is the official one, in which an agent sees them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ToolNames:
    """The tools of one domain by side: name to whether a call may change the state."""

    agent: Mapping[str, bool]
    user: Mapping[str, bool]
    discoverable: frozenset[str] = frozenset()
    """Tools that can be called, and are shown to nobody: documents tell of them."""
    callers: Mapping[str, str] = field(default_factory=dict)
    """Tools that call one of these, each with the argument that names it."""
    preparing: frozenset[str] = frozenset()
    """Tools that are repeated in a replay, and leave the databases as they are."""

    def without(self, names: Collection[str]) -> ToolNames:
        """Return the same tools without some of the agent's."""
        kept = {name: writes for name, writes in self.agent.items() if name not in names}
        return replace(self, agent=MappingProxyType(kept))

    def acting(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the tool that does what a call asks for: the one that it names, or itself."""
        return str(arguments.get(self.callers[name])) if name in self.callers else name

    def changes_data(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether a call may change a database otherwise than by being logged there."""
        return name not in self.preparing and self.changes_state(self.acting(name, arguments))

    def changes_state(self, name: str) -> bool:
        """Tell whether a call of this tool may change a database; an unknown one may not."""
        return self.agent.get(name, self.user.get(name, False))


def _tools(spec: str) -> MappingProxyType[str, bool]:
    # A star marks a tool that changes state.
    return MappingProxyType({word.rstrip("*"): word.endswith("*") for word in spec.split()})


_AIRLINE = ToolNames(
    agent=_tools("""
        book_reservation* calculate cancel_reservation* get_reservation_details get_user_details
        list_all_airports search_direct_flight search_onestop_flight send_certificate*
        transfer_to_human_agents update_reservation_baggages* update_reservation_flights*
        update_reservation_passengers* get_flight_status
    """),
    user=_tools(""),
)
_BANK_AGENT_DISCOVERABLE = _tools("""
    example_agent_tool_0000* update_transaction_rewards_3847*
    initial_transfer_to_human_agent_0218 initial_transfer_to_human_agent_1822
    emergency_credit_bureau_incident_transfer_1114 file_credit_card_transaction_dispute_4829*
    file_debit_card_transaction_dispute_6281* set_debit_card_recurring_block_7382*
    get_debit_dispute_status_7483 get_atm_deposit_images_8473 order_replacement_credit_card_7291*
    get_user_dispute_history_7291 get_pending_replacement_orders_5765
    log_credit_card_closure_reason_4521* get_closure_reason_history_8293
    apply_statement_credit_8472* apply_credit_card_account_flag_6147*
    close_credit_card_account_7834* pay_credit_card_from_checking_9182*
    submit_credit_limit_increase_request_7392* get_credit_limit_increase_history_4829
    get_payment_history_6183 approve_credit_limit_increase_5847* deny_credit_limit_increase_5848*
    open_bank_account_4821* close_bank_account_7392* get_all_user_accounts_by_user_id_3847
    transfer_funds_between_bank_accounts_7291* apply_checking_account_credit_5829*
    apply_savings_account_credit_6831* submit_interest_discrepancy_report_7294*
    get_bank_account_transactions_9173 order_debit_card_5739* activate_debit_card_8291*
    activate_debit_card_8292* activate_debit_card_8293* close_debit_card_4721*
    freeze_debit_card_3892* unfreeze_debit_card_3893* clear_debit_card_fraud_alert_4892*
    reset_debit_card_pin_6284* change_debit_card_pin_6285* get_debit_cards_by_account_id_7823
    request_temporary_debit_card_limit_increase_8374*
""")
# One that the official engine takes for a read writes a log, which a replay thus leaves out.
_BANK_USER_DISCOVERABLE = _tools("""
    submit_cash_back_dispute_0589* get_referral_link* get_card_last_4_digits deposit_check_3847*
""")
_BANKING = ToolNames(
    agent=_tools("""
        KB_search grep transfer_to_human_agents get_current_time get_user_information_by_id
        get_user_information_by_name get_user_information_by_email change_user_email*
        get_referrals_by_user get_credit_card_transactions_by_user get_credit_card_accounts_by_user
        log_verification* give_discoverable_user_tool* unlock_discoverable_agent_tool*
        call_discoverable_agent_tool* list_discoverable_agent_tools
    """)
    | _BANK_AGENT_DISCOVERABLE,
    user=_tools("""
        apply_for_credit_card* submit_referral* call_discoverable_user_tool*
        list_discoverable_user_tools request_human_agent_transfer* submit_transaction*
    """)
    | _BANK_USER_DISCOVERABLE,
    discoverable=frozenset(_BANK_AGENT_DISCOVERABLE | _BANK_USER_DISCOVERABLE),
    callers={
        "call_discoverable_agent_tool": "agent_tool_name",
        "call_discoverable_user_tool": "discoverable_tool_name",
    },
    preparing=frozenset({"unlock_discoverable_agent_tool"}),
)
_RETAIL = ToolNames(
    agent=_tools("""
        calculate cancel_pending_order* exchange_delivered_order_items* find_user_id_by_name_zip
        find_user_id_by_email get_order_details get_product_details get_item_details
        get_user_details list_all_product_types modify_pending_order_address*
        modify_pending_order_items* modify_pending_order_payment* modify_user_address*
        return_delivered_order_items* transfer_to_human_agents
    """),
    user=_tools(""),
)
_TELECOM = ToolNames(
    agent=_tools("""
        get_customer_by_phone get_customer_by_id get_customer_by_name get_details_by_id
        suspend_line* resume_line* get_bills_for_customer send_payment_request* get_data_usage
        enable_roaming* disable_roaming* transfer_to_human_agents refuel_data*
    """),
    user=_tools("""
        check_status_bar check_network_status check_network_mode_preference
        set_network_mode_preference* run_speed_test toggle_airplane_mode* check_sim_status
        reseat_sim_card* toggle_data* toggle_roaming* check_data_restriction_status
        toggle_data_saver_mode* check_apn_settings set_apn_settings* reset_apn_settings*
        check_wifi_status toggle_wifi* check_wifi_calling_status toggle_wifi_calling*
        check_vpn_status connect_vpn* disconnect_vpn* check_installed_apps check_app_status
        check_app_permissions grant_app_permission* can_send_mms reboot_device*
        check_payment_request make_payment*
    """),
)
_MOCK = ToolNames(
    agent=_tools("create_task* get_users update_task_status* transfer_to_human_agents"),
    user=_tools("check_notifications dismiss_notification*"),
)

TOOL_NAMES: Mapping[str, ToolNames] = MappingProxyType(
    {
        "airline": _AIRLINE,
        "banking_knowledge": _BANKING,
        "mock": _MOCK,
        "retail": _RETAIL,
        "telecom": _TELECOM,
    }
)
"""The tools of every domain that can be played."""
_OTHERS = {"telecom-workflow": _TELECOM}
"""The tools of domains that only the official engine plays."""
_NONE = ToolNames(agent=_tools(""), user=_tools(""))


def tool_names(domain: str) -> ToolNames:
    """Return the tools of a domain; none where they are not known."""
    return TOOL_NAMES.get(domain) or _OTHERS.get(domain, _NONE)

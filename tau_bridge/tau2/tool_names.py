"""The tools of each τ²-bench domain, and which of them change its state.

A whitelist: the toolkits' classes have helpers beside the tools (`break_vpn`, `_get_user`) that
may not be called. The order is the official one, in which an agent sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class ToolNames:
    """The tools of one domain by side: name to whether a call may change the state."""

    agent: Mapping[str, bool]
    user: Mapping[str, bool]

    def changes_state(self, name: str) -> bool:
        """Tell whether a call of this tool may change a database; an unknown one may not."""
        return self.agent.get(name, self.user.get(name, False))


def _tools(spec: str) -> Mapping[str, bool]:
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
    {"airline": _AIRLINE, "mock": _MOCK, "retail": _RETAIL, "telecom": _TELECOM}
)
"""The tools of every domain that can be played."""
_OTHERS = {"telecom-workflow": _TELECOM}
"""The tools of domains that only the official engine plays."""
_NONE = ToolNames(agent=_tools(""), user=_tools(""))


def tool_names(domain: str) -> ToolNames:
    """Return the tools of a domain; none where they are not known."""
    return TOOL_NAMES.get(domain) or _OTHERS.get(domain, _NONE)

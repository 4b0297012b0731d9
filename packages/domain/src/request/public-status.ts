import { unreachable } from "../errors.ts";
import { isWatchedOnly } from "./state.ts";
import type { RequestState } from "./state.ts";

/** The statuses that clients know. */
export const publicStatuses = [
  "waiting",
  "depositing",
  "pending",
  "submitted",
  "success",
  "failure",
  "refund",
] as const;
export type PublicStatus = (typeof publicStatuses)[number];

/** Who holds the money. */
export const fundsPlaces = [
  "user",
  "depositAddress",
  "depository",
  "solver",
  "recipient",
  "refunded",
] as const;
export type FundsPlace = (typeof fundsPlaces)[number];

/** What happens next, or what the client should do. */
export const nextActions = [
  "send_deposit",
  "send_payment",
  "quote_again",
  "wait_for_execution",
  "wait_for_confirmations",
  "wait_for_fill",
  "wait_for_refund",
  "contact_operator",
  "none",
] as const;
export type NextAction = (typeof nextActions)[number];

/**
 * Funds at a request's deposit address: `seen` funds will be confirmed and swept automatically, `held` funds
 * wait for an operator.
 */
export const addressFunds = ["none", "seen", "held"] as const;
export type AddressFunds = (typeof addressFunds)[number];

/** The public status of a state. */
export function publicStatus(
  state: Pick<RequestState, "name">,
  atAddress: AddressFunds = "none",
): PublicStatus {
  switch (state.name) {
    case "quoted":
    case "accepted":
      return atAddress === "seen" ? "depositing" : "waiting";
    case "depositing":
      return "depositing";
    case "deposited":
    case "fillable":
    case "filling":
    case "refunding":
      return "pending";
    case "submitted":
      return "submitted";
    case "filled":
      return "success";
    case "refunded":
      return "refund";
    case "failed":
    case "expired":
      return "failure";
    default:
      return unreachable(state.name);
  }
}

/** Where the money is now, as far as this instance has seen on chain. A call moves no money: `user`. */
export function fundsAt(
  state: Pick<RequestState, "name" | "kind" | "depositId">,
  atAddress: AddressFunds = "none",
): FundsPlace {
  if (state.kind === "call") return "user";
  switch (state.name) {
    case "quoted":
    case "accepted":
    case "depositing":
    case "expired":
      return atAddress === "none" ? "user" : "depositAddress";
    case "fillable":
    case "filling":
    case "submitted":
      // A fast fill does not wait for the deposit.
      return state.depositId === undefined ? "user" : "depository";
    case "deposited":
    case "refunding":
    case "failed":
      return "depository";
    case "filled":
      return "recipient";
    case "refunded":
      return "refunded";
    default:
      return unreachable(state.name);
  }
}

/**
 * The next action.
 * @param isOverdue the payment deadline has passed; a payment made before it may still be found
 */
export function nextAction(
  state: Pick<RequestState, "name" | "kind">,
  atAddress: AddressFunds = "none",
  isOverdue = false,
): NextAction {
  switch (state.name) {
    case "quoted":
      if (atAddress !== "none") return actionAtAddress[atAddress];
      if (isOverdue) return "quote_again";
      return isWatchedOnly(state.kind) ? "send_payment" : "send_deposit";
    case "accepted":
      return "wait_for_execution";
    case "depositing":
    case "deposited":
      return "wait_for_confirmations";
    case "fillable":
    case "filling":
    case "submitted":
      return "wait_for_fill";
    case "refunding":
      return "wait_for_refund";
    case "failed":
      // A failed call has no deposit to refund.
      return state.kind === "call" ? "none" : "contact_operator";
    case "expired":
      return atAddress === "none" ? "quote_again" : actionAtAddress[atAddress];
    case "filled":
    case "refunded":
      return "none";
    default:
      return unreachable(state.name);
  }
}

const actionAtAddress = {
  seen: "wait_for_confirmations",
  held: "contact_operator",
} as const satisfies Record<Exclude<AddressFunds, "none">, NextAction>;

/** How long a client should wait before the next poll, ms; 0 = nothing will change. */
export function pollAfterMs(
  state: Pick<RequestState, "name" | "final">,
  atAddress: AddressFunds = "none",
): number {
  switch (state.name) {
    case "quoted":
    case "deposited":
    case "refunding":
      return 1000;
    case "accepted":
    case "depositing":
    case "fillable":
    case "filling":
    case "submitted":
      return 250;
    case "filled":
    case "refunded":
    case "failed":
      return state.final ? 0 : 5000;
    case "expired":
      return atAddress === "seen" ? 1000 : 60_000;
    default:
      return unreachable(state.name);
  }
}

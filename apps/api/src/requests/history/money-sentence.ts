import { unreachable } from "@causeway/domain";
import type { RequestStory } from "./request-history.port.ts";
import { fundsOf } from "./past-request.ts";

/** Where the money of a request is and why, in one sentence. */
export function moneySentence(story: RequestStory): string {
  const { state, terms } = story;
  const reason = state.failReason === undefined ? "" : ` (${state.failReason})`;
  const refundReason = state.refundFailReason ?? "no reason recorded";
  if (terms.kind === "call") return callSentence(story);
  if (story.addressFunds !== undefined && fundsOf(story) === "depositAddress")
    return story.addressFunds === "seen"
      ? "The money is at the deposit address: once confirmed, it is moved into the depository."
      : "The money is held at the deposit address until its owner or the operator acts; GET /deposit-addresses/v1 shows why.";
  switch (state.name) {
    case "quoted":
      return "The user has the money: nothing has been deposited yet.";
    case "accepted":
      return "The user has the money: the service is about to send the transaction that deposits it.";
    case "depositing":
      return "The user's transaction is mined, and its deposit is being looked up.";
    case "deposited":
      return `The depository has the money: the deposit waits for ${confirmations(story)}.`;
    case "fillable":
      return state.depositId === undefined
        ? "The user has the money: an app balance backs the deposit, and the fill is sent as soon as the solver can pay it."
        : "The depository has the money: the deposit is confirmed, and the fill is sent as soon as the solver can pay it. If the solver cannot, for example because it lacks the currency, the money is refunded.";
    case "filling":
    case "submitted":
      return state.depositId === undefined
        ? "The user has the money: an app balance backs the deposit, and the fill is on its way to the recipient."
        : "The depository has the money, and the fill is on its way to the recipient.";
    case "filled":
      return filledSentence(story);
    case "refunding":
      return `The depository has the money, and it is being refunded${reason}.`;
    case "refunded":
      return `The money was refunded${reason}.`;
    case "failed":
      return `The depository has the money: the request was not filled${reason}, and the deposit was not refunded (${refundReason}).`;
    case "expired":
      return "The user has the money: nothing was deposited in time.";
    default:
      return unreachable(state.name);
  }
}

function filledSentence({ state, terms }: RequestStory): string {
  const finality = state.final ? ", and that is final" : "";
  if (terms.kind === "send" || terms.kind === "swap")
    return `The recipient has the money${finality}: the user's transaction paid it.`;
  if (state.front === "debited")
    return `The recipient has the money${finality}; the deposit did not arrive, and the app balance that backed it was charged.`;
  if (state.front === "held")
    return `The recipient has the money${finality}; the deposit, which an app balance backs, has not arrived yet.`;
  return `The recipient has the money${finality}: the fill paid it.`;
}

function callSentence({ state }: RequestStory): string {
  const reason = state.failReason === undefined ? "" : ` (${state.failReason})`;
  if (state.name === "filled")
    return "The service held no money of the user: it sent the call, and the call succeeded.";
  if (state.name === "failed" || state.name === "expired")
    return `The service held no money of the user: the call was not executed${reason}.`;
  return "The service holds no money of the user: it is sending a call for them.";
}

function confirmations({ deposits, state }: RequestStory): string {
  const deposit = deposits.find(({ id }) => id === state.depositId);
  return deposit === undefined ? "its confirmations" : `block ${deposit.confirmAtBlock} of its chain`;
}

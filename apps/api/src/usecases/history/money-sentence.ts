import { unreachable } from "@causeway/domain";
import type { RequestStory } from "../../ports/request-history.ts";
import { fundsOf } from "./past-request.ts";

/** Where the money of a request is and why, in one sentence. */
export function moneySentence(story: RequestStory): string {
  const { state, terms } = story;
  const reason = state.failReason === undefined ? "" : ` (${state.failReason})`;
  const refundReason = state.refundFailReason ?? "nobody noted why";
  if (terms.kind === "call") return callSentence(story);
  if (story.addressFunds !== undefined && fundsOf(story) === "depositAddress")
    return story.addressFunds === "seen"
      ? "The money is at the deposit address: it is confirmed there and then moved into the depository."
      : "The money is at the deposit address, and somebody has to say where it belongs.";
  switch (state.name) {
    case "quoted":
      return "The user has the money: nothing has been deposited yet.";
    case "accepted":
      return "The user has the money: the service is about to send the transaction that deposits it.";
    case "depositing":
      return "The user's transaction is in a block, and the deposit that it made is being looked for.";
    case "deposited":
      return `The depository has the money: its deposit waits for ${confirmations(story)}.`;
    case "fillable":
      return state.depositId === undefined
        ? "The user has the money: an app vouches for the deposit, and the fill is sent as soon as the solver can pay it."
        : "The depository has the money: the deposit is confirmed, and the fill is sent as soon as the solver can pay it. If the solver cannot, for example because it lacks the currency, the money goes back.";
    case "filling":
    case "submitted":
      return state.depositId === undefined
        ? "The user has the money: an app vouches for the deposit, and the fill is on its way to the recipient."
        : "The depository has the money, and the fill is on its way to the recipient.";
    case "filled":
      return filledSentence(story);
    case "refunding":
      return `The depository has the money, and it is being sent back${reason}.`;
    case "refunded":
      return `The money was sent back${reason}.`;
    case "failed":
      return `The depository has the money: it was not paid out${reason}, and not sent back either (${refundReason}).`;
    case "expired":
      return "The user has the money: nothing was deposited in time.";
    default:
      return unreachable(state.name);
  }
}

function filledSentence({ state, terms }: RequestStory): string {
  const beyond = state.final ? ", and that is final" : "";
  if (terms.kind === "send" || terms.kind === "swap")
    return `The recipient has the money${beyond}: the user's own transaction paid it.`;
  if (state.front === "debited")
    return `The recipient has the money${beyond}; the deposit never came, and the app that vouched for it has paid.`;
  if (state.front === "held")
    return `The recipient has the money${beyond}; the deposit that an app vouches for has not come yet.`;
  return `The recipient has the money${beyond}: the fill paid it.`;
}

function callSentence({ state }: RequestStory): string {
  const reason = state.failReason === undefined ? "" : ` (${state.failReason})`;
  if (state.name === "filled")
    return "No money of the user's was held: the service sent the call, and it is done.";
  if (state.name === "failed" || state.name === "expired")
    return `No money of the user's was held: the call was not done${reason}.`;
  return "No money of the user's is held: the service sends a call for him, which is under way.";
}

function confirmations({ deposits, state }: RequestStory): string {
  const deposit = deposits.find(({ id }) => id === state.depositId);
  return deposit === undefined ? "its confirmations" : `block ${deposit.confirmAtBlock} of its chain`;
}

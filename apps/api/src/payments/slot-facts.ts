import type { Facts } from "../db/events.port.ts";
import type { Attempt, Slot } from "../db/records.port.ts";

/** The facts about a slot in events. */
export function factsOf({ chainId, nonce, leg }: Slot): Facts {
  return { chainId, nonce, leg: leg.kind, requestId: leg.requestId };
}

/** The facts about an attempt in events. */
export function attemptFacts(slot: Slot, { n, kind, txHash }: Attempt): Facts {
  return { ...factsOf(slot), attempt: n, kind, txHash };
}

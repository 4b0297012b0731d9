import type { Facts } from "../db/events.port.ts";
import type { Attempt, Slot } from "../db/records.port.ts";

/** What events say about a slot. */
export function factsOf({ chainId, nonce, leg }: Slot): Facts {
  return { chainId, nonce, leg: leg.kind, requestId: leg.requestId };
}

/** What events say about an attempt. */
export function attemptFacts(slot: Slot, { n, kind, txHash }: Attempt): Facts {
  return { ...factsOf(slot), attempt: n, kind, txHash };
}

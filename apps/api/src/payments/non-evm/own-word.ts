import type { RailAttempt } from "@causeway/chains";
import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import type { NewNonceMapping } from "../../chains/nonce-mappings.port.ts";
import type { Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";

/**
 * What the solver says of a payment that cannot name its order itself: to be stored in one commit with the
 * payment's bytes, before anything leaves. Undefined where nothing is to be said: payments of the chain name
 * their orders, or this one is for none.
 */
export async function ownWordOf(
  { rail }: Pick<ConnectedPayingRail, "rail">,
  { chainId, call, leg }: Pick<Slot, "chainId" | "call" | "leg">,
  attempt: RailAttempt,
): Promise<NewNonceMapping | undefined> {
  if (rail.signNonceMapping === undefined || call.data === "0x") return undefined;
  const { nonce, signature, signatureChainId } = await rail.signNonceMapping(attempt, call.data);
  return {
    chainId,
    wallet: rail.solver,
    depositor: rail.solver,
    id: call.data,
    nonce,
    signature,
    signatureChainId,
    requestId: leg.requestId,
  };
}

/**
 * Whether a payment may leave. One whose order the oracles would never learn of would be made in vain, so its
 * word must be on the hub before: a hub that is away for longer than words are waited for then costs time and
 * not the payment.
 * @throws RpcFault
 */
export async function isUnderstood(
  { nonceMappings }: Pick<Services, "nonceMappings">,
  connected: Pick<ConnectedPayingRail, "rail">,
  slot: Pick<Slot, "chainId" | "call" | "leg">,
  attempt: RailAttempt,
): Promise<boolean> {
  if (nonceMappings === undefined) return true;
  const word = await ownWordOf(connected, slot, attempt);
  if (word === undefined) return true;
  const mapped = await nonceMappings.of(word.chainId, word.wallet, word.nonce);
  return mapped?.id === word.id && mapped.depositor === word.depositor;
}

import type { NonEvmAttempt } from "@causeway/chains";
import type { TransferChain } from "../../chains/chains.port.ts";
import type { NewNonceMapping } from "../../chains/nonce-mappings.port.ts";
import type { Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";

/**
 * The solver's nonce mapping for a payment that cannot carry its order: stored in one commit with the
 * payment's bytes, before anything is sent. Undefined if none is needed: payments of the chain name their
 * orders, or this one has no order.
 */
export async function signedMappingOf(
  { connection }: Pick<TransferChain, "connection">,
  { chainId, call, leg }: Pick<Slot, "chainId" | "call" | "leg">,
  attempt: NonEvmAttempt,
): Promise<NewNonceMapping | undefined> {
  if (connection.signNonceMapping === undefined || call.data === "0x") return undefined;
  const { nonce, signature, signatureChainId } = await connection.signNonceMapping(attempt, call.data);
  return {
    chainId,
    wallet: connection.solver,
    depositor: connection.solver,
    id: call.data,
    nonce,
    signature,
    signatureChainId,
    requestId: leg.requestId,
  };
}

/**
 * Whether a payment may be sent: oracles must be able to learn its order, so its mapping must be on the hub
 * first. An unreachable hub then delays the payment instead of making it worthless.
 * @throws RpcFault
 */
export async function isMappedOnHub(
  { nonceMappings }: Pick<Services, "nonceMappings">,
  connected: Pick<TransferChain, "connection">,
  slot: Pick<Slot, "chainId" | "call" | "leg">,
  attempt: NonEvmAttempt,
): Promise<boolean> {
  if (nonceMappings === undefined) return true;
  const mapping = await signedMappingOf(connected, slot, attempt);
  if (mapping === undefined) return true;
  const mapped = await nonceMappings.find(mapping.chainId, mapping.wallet, mapping.nonce);
  return mapped?.id === mapping.id && mapped.depositor === mapping.depositor;
}

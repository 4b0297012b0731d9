import type { Address, OrderId, RequestId, TxHash } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";

/**
 * Nonces of our own keys that the chain has used and the database does not know: the key was used elsewhere, or a database failed over to a copy that lacks the
 * last commits. Then a payment was made that nothing here remembers, and planning it again would pay twice.
 */

type OneChain = Pick<ConnectedChain, "chain" | "connection">;

/** Unknown nonces that are looked into at once, the newest first: a failover loses a moment. */
const MAX_NONCES = 256;

/** Whether a lane must not plan anything now: the chain has used a nonce that nobody can explain. @throws RpcFault */
export async function hasUnexplainedNonce(
  { reads }: Pick<Services, "reads">,
  { chain, connection }: OneChain,
  sender: Address,
): Promise<boolean> {
  const used = await connection.reader.nonce(sender, "latest");
  const lane = await reads.lane(chain.id, sender);
  return lane !== undefined && (lane.hasUnexplained || used > lane.nextNonce);
}

/**
 * The request that a transaction of our key pays or moves money for: its order id ends the calldata of fills, refunds and sweeps;
 * an execution is known by its exact call.
 * @returns undefined when it serves no known request, or reverted
 * @throws RpcFault
 */
export async function requestPaidBy(
  { reads }: Pick<Services, "reads">,
  { chain, connection }: OneChain,
  txHash: TxHash,
): Promise<RequestId | undefined> {
  const state = await connection.reader.transaction(txHash);
  if (state.kind === "absent") return undefined;
  if (state.kind === "mined" && state.receipt.status === "reverted") return undefined;
  const { to, input, value } = state.transaction;
  if (input.length >= 66) {
    const orderId: OrderId = `0x${input.slice(-64)}` as OrderId;
    const byOrder = (await reads.requestsByOrders([orderId])).get(orderId);
    if (byOrder !== undefined) return byOrder.terms.requestId;
  }
  return to && (await reads.unsettledExecutionOf(chain.id, { to, data: input, value }));
}

/**
 * Whether nonces from `next` up to `used` were spent on something else than a request of ours, as far as the watched blocks tell. A payment among them is alarmed:
 * the lane stands until the operator has restored what was lost.
 * @throws RpcFault
 */
export async function areUsedElsewhere(
  services: Pick<Services, "reads" | "events">,
  connected: OneChain,
  { sender, next, used }: { readonly sender: Address; readonly next: number; readonly used: number },
): Promise<boolean> {
  const { chain, connection } = connected;
  const [lowest] = await services.reads.trail(chain.id);
  const head = await connection.reader.head();
  if (lowest === undefined) return true;
  for (let nonce = Math.max(next, used - MAX_NONCES); nonce < used; nonce++) {
    const txHash = await connection.reader.transactionByNonce(sender, nonce, lowest.number, head.number);
    const requestId = txHash && (await requestPaidBy(services, connected, txHash));
    if (requestId === undefined) continue;
    services.events.alarm("payment_unrecorded", { chain: chain.name, sender, nonce, txHash, requestId });
    return false;
  }
  return true;
}

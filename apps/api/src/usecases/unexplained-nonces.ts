import type { Address, OrderId, RequestId, RequestTerms, TxHash } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";
import { endOf, isRail } from "./request-end.ts";

/**
 * Nonces of our own keys that the chain has used and the database does not know: the key was used elsewhere, or a database failed over to a copy that lacks the
 * last commits. Then a payment was made that nothing here remembers, and planning it again would pay twice.
 */

type OneChain = Pick<ConnectedChain, "chain" | "connection">;

export const UNEXPLAINED_NONCE = "a used nonce of the solver's key is unexplained";

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
 * Why the recipient may have been paid without the database knowing; undefined: no such payment was made. Ask before a deposit is released
 * for refund: after a failover, only the chain shows that payment.
 * @throws RpcFault: nothing is known, so the deposit must not be released
 */
export async function whyMaybePaid(
  services: Pick<Services, "reads" | "chains" | "events" | "signer">,
  { destination: { chainId }, order }: Pick<RequestTerms, "destination" | "order">,
): Promise<string | undefined> {
  const destination = endOf(services.chains, chainId);
  if (destination === undefined)
    return (await services.reads.hasLane(chainId))
      ? `chain ${chainId} is not enabled, so whether it shows a payment of this fill is unknown: enable it`
      : undefined;
  if (isRail(destination)) return undefined;
  const { reader } = destination.connection;
  // Before the solver's key was changed, the order's solver paid.
  const senders = new Set([services.signer.address, order.solver]);
  for (const sender of senders) {
    if ((await services.reads.lane(chainId, sender)) === undefined) continue;
    // A payment that is not mined yet may still be.
    const counts = await Promise.all([reader.nonce(sender, "latest"), reader.nonce(sender, "pending")]);
    const used = Math.max(...counts);
    const lane = await services.reads.lane(chainId, sender);
    if (lane === undefined || (!lane.hasUnexplained && used <= lane.nextNonce)) continue;
    const isFormerKey = sender !== services.signer.address && !lane.hasUnexplained;
    const range = { sender, next: lane.nextNonce, used };
    // The lane of a former key is no longer advanced when the key is used elsewhere.
    if (isFormerKey && (await areUsedElsewhere(services, destination, range))) continue;
    return UNEXPLAINED_NONCE;
  }
  return undefined;
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

import { inconsistent } from "@causeway/chains";
import type { Address, OrderId, RequestId, RequestTerms, TxHash } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { NonceUser } from "../ports/nonce-user.ts";
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

type NonceServices = Pick<Services, "reads" | "chains" | "events" | "signer" | "uow">;
type Payable = Pick<RequestTerms, "requestId" | "order">;

/**
 * {@link whyMaybePaid} for one that plans a payment now: what waits in the pool has the same nonce as the planned one, and only one of them can be mined.
 * @throws RpcFault
 */
export async function whyMaybeMined(
  services: NonceServices,
  chainId: number,
  terms: Payable | undefined,
): Promise<string | undefined> {
  return await whyPaid(services, chainId, terms, ["latest"]);
}

/**
 * Why there may be a payment for the request that the database does not know; undefined: there is none. Ask before a deposit is released for refund: after a
 * failover, only the chain shows that payment.
 * @param chainId where it would have been paid
 * @param terms of the request; undefined: a deposit that belongs to none
 * @throws RpcFault: nothing is known, so nothing may be paid or released
 */
export async function whyMaybePaid(
  services: NonceServices,
  chainId: number,
  terms: Payable | undefined,
): Promise<string | undefined> {
  return await whyPaid(services, chainId, terms, ["latest", "pending"]);
}

async function whyPaid(
  services: NonceServices,
  chainId: number,
  terms: Payable | undefined,
  seen: readonly ("latest" | "pending")[],
): Promise<string | undefined> {
  const end = endOf(services.chains, chainId);
  if (end === undefined)
    return (await services.reads.hasLane(chainId))
      ? `chain ${chainId} is not enabled, so whether it shows a payment of this fill is unknown: enable it`
      : undefined;
  if (isRail(end)) return undefined;
  const { signer } = services;
  // Before the solver's key was changed, the order's solver paid.
  const senders = new Set([signer.address, terms?.order.solver ?? signer.address]);
  const states = await Promise.all(
    [...senders].map(async (sender) =>
      sender === signer.address
        ? await isCurrentUnexplained(services, end, sender, seen)
        : await isFormerUnexplained(services, end, sender),
    ),
  );
  if (states.includes(true)) return UNEXPLAINED_NONCE;
  if (terms === undefined) return undefined;
  const lost = await services.reads.lostPayment(chainId, terms.requestId);
  return lost && `transaction ${lost} pays for the request, and its rows are lost: restore them`;
}

async function isCurrentUnexplained(
  { reads }: Pick<Services, "reads">,
  { chain, connection }: OneChain,
  sender: Address,
  seen: readonly ("latest" | "pending")[],
): Promise<boolean> {
  if ((await reads.lane(chain.id, sender)) === undefined) return false;
  const counts = await Promise.all(seen.map(async (tag) => await connection.reader.nonce(sender, tag)));
  const lane = await reads.lane(chain.id, sender);
  return lane !== undefined && (lane.hasUnexplained || Math.max(...counts) > lane.nextNonce);
}

/** A key that may have leaked: whoever has it must not be able to hold up every request of its time, so only what it paid for counts. */
async function isFormerUnexplained(
  services: Pick<Services, "reads" | "events" | "uow">,
  connected: OneChain,
  sender: Address,
): Promise<boolean> {
  const { chain, connection } = connected;
  if ((await services.reads.lane(chain.id, sender)) === undefined) return false;
  const used = await connection.reader.nonce(sender, "latest");
  const lane = await services.reads.lane(chain.id, sender);
  if (lane === undefined || lane.hasUnexplained) return lane !== undefined;
  if (used <= lane.nextNonce) return false;
  return !(await explainNonces(services, connected, { sender, next: lane.nextNonce, used })).isComplete;
}

/**
 * The request that a transaction of our key pays or moves money for: its order id ends the calldata of fills, refunds and sweeps;
 * an execution is known by its exact call.
 * @returns undefined when it serves no known request, or reverted
 * @throws RpcFault, also when the node does not know the transaction: it stands in a block
 */
export async function requestPaidBy(
  { reads }: Pick<Services, "reads">,
  { chain, connection }: OneChain,
  txHash: TxHash,
): Promise<RequestId | undefined> {
  const state = await connection.reader.transaction(txHash);
  if (state.kind === "absent")
    throw inconsistent("eth_getTransactionByHash", "the node does not know a transaction of its block");
  if (state.kind === "mined" && state.receipt.status === "reverted") return undefined;
  const { to, input, value } = state.transaction;
  if (input.length >= 66) {
    const orderId: OrderId = `0x${input.slice(-64)}` as OrderId;
    const byOrder = (await reads.requestsByOrders([orderId])).get(orderId);
    if (byOrder !== undefined) return byOrder.terms.requestId;
  }
  return to && (await reads.unsettledExecutionOf(chain.id, { to, data: input, value }));
}

/** What used the nonces of a lane that the database did not give away. */
export interface Explained {
  /** Each is known; the others are older than the remembered blocks, or the node is behind. */
  readonly isComplete: boolean;
  /** A payment of a request is among them whose rows are not restored. */
  readonly hasLost: boolean;
}

/**
 * Finds what used the nonces from `next` to below `used` of a lane, and keeps it. A lost payment is alarmed until its rows are restored.
 * @throws RpcFault
 */
export async function explainNonces(
  services: Pick<Services, "reads" | "events" | "uow">,
  connected: OneChain,
  { sender, next, used }: { readonly sender: Address; readonly next: number; readonly used: number },
): Promise<Explained> {
  const { reads, events } = services;
  const { chain } = connected;
  const from = Math.max(next, used - MAX_NONCES);
  const [given, known] = await Promise.all([
    reads.givenNonces(chain.id, sender, from, used),
    reads.nonceUsers(chain.id, sender, from, used),
  ]);
  let explained: Explained = { isComplete: true, hasLost: false };
  for (let nonce = from; nonce < used; nonce++) {
    if (given.has(nonce)) continue;
    const user = known.get(nonce) ?? (await findNonceUser(services, connected, sender, nonce));
    const facts = { chain: chain.name, sender, nonce };
    if (user === undefined) {
      explained = { ...explained, isComplete: false };
      events.alarm("nonce_unexplained", facts);
    } else if (user.requestId !== undefined) {
      explained = { ...explained, hasLost: true };
      events.alarm("payment_unrecorded", { ...facts, txHash: user.txHash, requestId: user.requestId });
    }
  }
  return explained;
}

async function findNonceUser(
  services: Pick<Services, "reads" | "uow">,
  connected: OneChain,
  sender: Address,
  nonce: number,
): Promise<NonceUser | undefined> {
  const { chain, connection } = connected;
  const [lowest] = await services.reads.trail(chain.id);
  if (lowest === undefined) return undefined;
  const head = await connection.reader.head();
  const txHash = await connection.reader.transactionByNonce(sender, nonce, lowest.number, head.number);
  if (txHash === undefined) return undefined;
  const user = { txHash, requestId: await requestPaidBy(services, connected, txHash) };
  await services.uow.run((tx) => tx.lanes.noteNonceUser(chain.id, sender, nonce, user));
  return user;
}

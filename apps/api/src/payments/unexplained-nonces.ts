import { inconsistent, RpcFault } from "@causeway/chains";
import type { TransactionFact } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Hex, Hex32, OrderId, RequestTerms, TxHash } from "@causeway/domain";
import type { ConnectedChain, ConnectedNonEvmChain, LaneChain } from "../chains/chains.port.ts";
import type { NonceUser } from "./nonce-user.port.ts";
import type { LaneState, Reads } from "../db/reads.port.ts";
import type { Services } from "../db/services.port.ts";
import { connectedChainOf, perKind } from "../http/connected-chain.ts";
import { payingAccounts, whyHeld, whyLaneHeld } from "./held-lanes.ts";

/**
 * Nonces of our keys that the chain has used and the database does not know: the key was used elsewhere, or a
 * failover lost the last commits. Planning a payment that was lost this way again would pay twice.
 */

const UNEXPLAINED_NONCE = "the sending key used a nonce that the database does not know";
const UNKNOWN_PENDING =
  "a pending transaction of the sending key is not in the database: wait until it is mined or dropped. If the event `endpoints_disagree` names an endpoint for eth_getTransactionCount, compare its pending count with a block explorer, and remove the endpoint from httpRpcUrl if it is wrong";

/** Maximum unknown nonces examined per pass, newest first: a failover loses only a moment. */
export const MAX_NONCES = 256;

/**
 * Why a lane must not plan anything now: the database just failed over, or the chain used an unexplained
 * nonce, or will once pending transactions are mined. Undefined: it may.
 * @throws RpcFault
 */
export async function whyUnexplained(
  { reads }: Pick<Services, "reads">,
  { chain, connection: { reader } }: LaneChain,
  sender: Address,
): Promise<string | undefined> {
  const [used, pending] = await Promise.all([
    // An endpoint that alone shows a lost payment must not be outvoted.
    reader.nonce(sender, "latest", "highest"),
    reader.nonce(sender, "pending", "highest"),
  ]);
  const lane = await reads.lane(chain.id, sender);
  if (lane === undefined) return undefined;
  const held = whyLaneHeld(lane);
  if (held !== undefined) return held;
  if (lane.hasUnexplained || used > lane.nextNonce) return UNEXPLAINED_NONCE;
  return pending > lane.nextNonce ? UNKNOWN_PENDING : undefined;
}

type PayableTerms = Pick<RequestTerms, "requestId" | "orderId" | "order" | "recipient" | "destination">;
type PaidServices = Pick<Services, "reads" | "events" | "signer" | "formerSigners" | "uow">;

/**
 * Why an unknown payment for the request may exist; undefined: none can exist. Call before planning a payment
 * or releasing a deposit for refund: after a failover, only the chain shows that payment.
 * @param chainId where it would have been paid
 * @param terms of the request; undefined: an unattributed deposit
 * @throws RpcFault: unknown, so nothing may be paid or released
 */
export async function whyMaybePaid(
  services: PaidServices & Pick<Services, "chains">,
  chainId: number,
  terms: PayableTerms | undefined,
): Promise<string | undefined> {
  const connected = connectedChainOf(services.chains, chainId);
  if (connected === undefined)
    return (await services.reads.hasLane(chainId))
      ? `chain ${chainId} is not enabled, so it cannot be checked for a payment of this fill: enable it`
      : undefined;
  return await perKind(connected, {
    evm: async (evmChain) => await whyMaybePaidByCall(services, evmChain, terms),
    nonEvm: async (nonEvmChain) => await whyMaybePaidByTransfer(services, nonEvmChain, terms),
  });
}

async function whyMaybePaidByTransfer(
  services: PaidServices & Pick<Services, "chains">,
  { chain, connection: { solver } }: ConnectedNonEvmChain,
  terms: PayableTerms | undefined,
): Promise<string | undefined> {
  const held = await whyHeld(services, chain.id, solver);
  if (held !== undefined || terms === undefined) return held;
  const { requestId, orderId } = terms;
  const lost = await services.reads.lostPayment(chain.id, requestId, payingAccounts(services), orderId);
  return lost && whyLost(lost);
}

async function whyMaybePaidByCall(
  services: PaidServices & Pick<Services, "chains">,
  connected: ConnectedChain,
  terms: PayableTerms | undefined,
): Promise<string | undefined> {
  const { signer, formerSigners } = services;
  if (terms === undefined) return await whyUnexplained(services, connected, signer.address);
  const { requestId, orderId, order } = terms;
  // Before the solver's key was changed, the order's solver paid.
  const isFormer = order.solver !== signer.address;
  const isConfigured = isFormer && formerSigners.some(({ address }) => address === order.solver);
  const otherSenders = payingAccounts(services);
  const why = await whyPaidBy(
    services,
    connected,
    { id: requestId, orderId, otherSenders },
    isConfigured ? [order.solver] : [],
  );
  if (why !== undefined || !isFormer || isConfigured) return why;
  const lost = await lostFill(services, connected, terms);
  return lost && whyLost(lost);
}

/**
 * Why an unknown transaction may have paid a claim; undefined: none did. Call before paying or returning the
 * claim.
 * @throws RpcFault
 */
export async function whyMaybePaidOut(
  services: PaidServices,
  connected: LaneChain,
  claimId: Hex32,
): Promise<string | undefined> {
  const formers = (services.formerSigners ?? []).map(({ address }) => address);
  return await whyPaidBy(services, connected, { id: claimId }, formers);
}

/**
 * Why an unknown transaction may have refunded an unattributed deposit; undefined: none can have.
 * @param depositTx the transaction of the deposit, whose hash ends the input of its refund
 * @throws RpcFault
 */
export async function whyMaybeReturned(
  services: PaidServices,
  connected: LaneChain,
  depositTx: TxHash,
): Promise<string | undefined> {
  return await whyPaidBy(services, connected, { id: depositTx }, []);
}

/** Whether a lost order was paid; `why` explains any other answer than `unpaid`. */
export type LostOrderPayment =
  | { readonly kind: "unpaid" }
  | { readonly kind: "paid" | "unknown"; readonly why: string };

/**
 * Whether an order that the database does not know was filled or refunded: a failover may have lost the
 * request together with its payment. `unknown` while an EVM chain cannot be checked.
 */
export async function paymentOfLostOrder(
  services: Pick<Services, "chains" | "reads" | "signer" | "formerSigners">,
  orderId: OrderId,
): Promise<LostOrderPayment> {
  const { chains, reads, signer, formerSigners } = services;
  const formers = formerSigners.map(({ address }) => address);
  const paying = [signer.address, ...formers];
  for (const [connected, sender] of chains.evmChains.flatMap((chain) =>
    paying.map((payer) => [chain, payer] as const),
  )) {
    const { name } = connected.chain;
    const why = await whyUnexplained(services, connected, sender).catch((error: unknown) => {
      if (error instanceof RpcFault) return "the node does not respond";
      throw error;
    });
    if (why !== undefined)
      return {
        kind: "unknown",
        why: `chain ${name} cannot be checked for a payment of the deposit's order: ${why}`,
      };
  }
  for (const { chain, connection } of chains.nonEvmChains) {
    const why = await whyHeld(services, chain.id, connection.solver);
    if (why !== undefined) return { kind: "unknown", why };
  }
  const lost = await reads.lostPaymentOfOrder(orderId, [...payingAccounts(services), ...formers]);
  return lost === undefined
    ? { kind: "unpaid" }
    : {
        kind: "paid",
        why: `transaction ${lost.txHash} of chain ${lost.chainId} may have paid the deposit's order, but the database rows of the order are lost`,
      };
}

/**
 * @param of.otherSenders accounts of other chains that may also have paid
 * @param formers configured former keys that may also have paid
 */
async function whyPaidBy(
  services: PaidServices,
  connected: LaneChain,
  {
    id,
    orderId,
    otherSenders = [],
  }: { readonly id: string; readonly orderId?: OrderId; readonly otherSenders?: readonly Address[] },
  formers: readonly Address[],
): Promise<string | undefined> {
  const { address } = services.signer;
  const unexplained = await whyUnexplained(services, connected, address);
  if (unexplained !== undefined) return unexplained;
  for (const former of formers) {
    const why = await whyFormerUnexplained(services, connected, former);
    if (why !== undefined) return why;
  }
  const senders = [...new Set([address, ...formers, ...otherSenders])];
  const lost = await services.reads.lostPayment(connected.chain.id, id, senders, orderId);
  return lost && whyLost(lost);
}

function whyLost(txHash: TxHash): string {
  return `transaction ${txHash} made this payment, but its database rows are lost: restore them`;
}

/**
 * Finds a lost fill by a key that is no longer configured. The key may be stolen, so a transaction counts
 * only if it pays the recipient at least the minimum amount; a transaction that no node has does not count.
 */
async function lostFill(
  services: Pick<Services, "reads" | "events" | "uow">,
  connected: LaneChain,
  { requestId, order, recipient, destination }: PayableTerms,
): Promise<TxHash | undefined> {
  const { chain, connection } = connected;
  await whyFormerUnexplained(services, connected, order.solver).catch((error: unknown) => {
    if (!(error instanceof RpcFault)) throw error;
  });
  const lost = await services.reads.lostPayment(chain.id, requestId, [order.solver]);
  if (lost === undefined || chain.id !== destination.chainId) return undefined;
  const state = await connection.reader.transaction(lost);
  if (state.kind === "absent") return undefined;
  const { to, input, value } = state.transaction;
  const payout = to && payoutOf({ to, input, value });
  const isPaid =
    payout !== undefined &&
    payout.recipient === recipient &&
    payout.currency === destination.currency &&
    payout.amount >= destination.minimumAmount;
  return isPaid ? lost : undefined;
}

/**
 * Why a former key may have made a payment that the database does not know: its lane is held, or it used
 * unexplained nonces, or may still do so. Records its lost payments: only the requests that they paid for
 * wait, so that nothing else depends on the holder of the key.
 * @throws RpcFault
 */
async function whyFormerUnexplained(
  services: Pick<Services, "reads" | "events" | "uow">,
  connected: LaneChain,
  sender: Address,
): Promise<string | undefined> {
  const { chain, connection } = connected;
  if ((await services.reads.lane(chain.id, sender)) === undefined) return undefined;
  const [used, pending] = await Promise.all([
    connection.reader.nonce(sender, "latest", "highest"),
    connection.reader.nonce(sender, "pending", "highest"),
  ]);
  const lane = await services.reads.lane(chain.id, sender);
  if (lane === undefined) return undefined;
  if (
    lane.hasUnexplained ||
    (used > lane.nextNonce && !(await explainNonces(services, connected, { sender, lane, used })).isComplete)
  )
    return UNEXPLAINED_NONCE;
  return whyLaneHeld(lane) ?? (pending > Math.max(used, lane.nextNonce) ? UNKNOWN_PENDING : undefined);
}

/**
 * Identifies the request or claim that our transaction serves: fills, refunds and sweeps end with the order
 * id (refunds of unattributed deposits with the deposit's hash); an execution is matched by its call, a claim
 * by currency, recipient and amount.
 * @returns the id of the request or claim, or the deposit's hash; undefined if it serves none, or reverted
 * @throws RpcFault, also if the node does not know the transaction of its own block
 */
export async function paidBy(
  services: Pick<Services, "reads">,
  connected: LaneChain,
  txHash: TxHash,
): Promise<string | undefined> {
  return (await readUse(services, connected, txHash)).pays;
}

/** The result of {@link paidBy}, and the end of the input. @throws RpcFault */
async function readUse(
  { reads }: Pick<Services, "reads">,
  { chain, connection }: LaneChain,
  txHash: TxHash,
): Promise<Omit<NonceUser, "txHash">> {
  const state = await readMined(connection, txHash);
  if (state.kind === "mined" && state.receipt.status === "reverted") return { pays: undefined };
  const { input } = state.transaction;
  const inputEnd: Hex | undefined = input.length >= 66 ? `0x${input.slice(-64)}` : undefined;
  return { pays: await findServed(reads, chain.id, state.transaction, inputEnd), inputEnd };
}

async function findServed(
  reads: Reads,
  chainId: number,
  { to, input, value }: Pick<TransactionFact, "to" | "input" | "value">,
  inputEnd: Hex | undefined,
): Promise<string | undefined> {
  if (inputEnd !== undefined) {
    const byOrder = (await reads.requestsByOrders([inputEnd])).get(inputEnd);
    if (byOrder !== undefined) return byOrder.terms.requestId;
    if (await reads.hasDepositsWithoutRequest(chainId, inputEnd)) return inputEnd;
  }
  if (to === undefined) return undefined;
  const payout = payoutOf({ to, input, value });
  return (
    (await reads.unsettledExecutionOf(chainId, { to, data: input, value })) ??
    (payout && (await reads.unpaidClaimOf(chainId, payout)))
  );
}

/** Reads a transaction that is in a block. @throws RpcFault also if the node does not know it */
async function readMined({ reader }: LaneChain["connection"], txHash: TxHash) {
  const state = await reader.transaction(txHash);
  if (state.kind === "absent")
    throw inconsistent("eth_getTransactionByHash", "the node does not return a transaction of its own block");
  return state;
}

/**
 * The currency, recipient and amount of a transfer, with or without an order id at the end; undefined: not a
 * transfer.
 */
function payoutOf({
  to,
  input,
  value,
}: {
  readonly to: Address;
  readonly input: Hex;
  readonly value: bigint;
}): Parameters<Reads["unpaidClaimOf"]>[1] | undefined {
  if (/^0x(?:[0-9a-f]{64})?$/.test(input)) return { currency: NATIVE_CURRENCY, recipient: to, amount: value };
  const words = /^0xa9059cbb0{24}(?<recipient>[0-9a-f]{40})(?<amount>[0-9a-f]{64})(?:[0-9a-f]{64})?$/.exec(
    input,
  )?.groups;
  if (words === undefined) return undefined;
  const { recipient, amount } = words;
  return { currency: to, recipient: `0x${recipient}`, amount: BigInt(`0x${amount}`) };
}

/** The transactions that used the unallocated nonces of a lane. */
export interface Explained {
  /**
   * All transactions are known; otherwise some are older than the remembered blocks, or the node is behind.
   */
  readonly isComplete: boolean;
  /** Includes a payment of a request whose rows are not restored. */
  readonly hasLost: boolean;
}

interface UsedNonces {
  readonly sender: Address;
  readonly lane: Pick<LaneState, "nextNonce" | "searchFrom">;
  /** How many nonces the chain has used. */
  readonly used: number;
}

/**
 * Finds what used the nonces of a lane from its next one to below `used`, and stores it. Raises an alarm for
 * a lost payment until its rows are restored.
 * @throws RpcFault
 */
export async function explainNonces(
  services: Pick<Services, "reads" | "events" | "uow">,
  connected: LaneChain,
  { sender, lane, used }: UsedNonces,
): Promise<Explained> {
  const { reads, events } = services;
  const { chain } = connected;
  const from = Math.max(lane.nextNonce, used - MAX_NONCES);
  const [allocated, users] = await Promise.all([
    reads.allocatedNonces(chain.id, sender, from, used),
    reads.nonceUsers(chain.id, sender, from, used),
  ]);
  let explained: Explained = { isComplete: true, hasLost: false };
  for (let nonce = from; nonce < used; nonce++) {
    if (allocated.has(nonce)) continue;
    const user =
      users.get(nonce) ??
      (await findNonceUser(services, connected, { sender, nonce, from: lane.searchFrom }));
    const facts = { chain: chain.name, sender, nonce };
    if (user === undefined) {
      explained = { ...explained, isComplete: false };
      events.alarm("nonce_unexplained", facts);
    } else if (user.pays !== undefined) {
      explained = { ...explained, hasLost: true };
      events.alarm("payment_unrecorded", { ...facts, txHash: user.txHash, requestId: user.pays });
    }
  }
  return explained;
}

async function findNonceUser(
  services: Pick<Services, "reads" | "events" | "uow">,
  connected: LaneChain,
  { sender, nonce, from }: { sender: Address; nonce: number; from: bigint | undefined },
): Promise<NonceUser | undefined> {
  const { chain, connection } = connected;
  const lowest = from ?? (await services.reads.trail(chain.id))[0]?.number;
  if (lowest === undefined) return undefined;
  const head = await connection.reader.head();
  const txHash = await connection.reader.transactionByNonce(sender, nonce, lowest, head.number);
  if (txHash === undefined) return undefined;
  const user = { txHash, ...(await readUse(services, connected, txHash)) };
  // Sent by hand, a no-op of ours, or a payment that was lost together with its request or claim.
  if (user.pays === undefined)
    services.events.alarm("nonce_spent_elsewhere", { chain: chain.name, sender, nonce, txHash });
  await services.uow.run((tx) => tx.lanes.noteNonceUser(chain.id, sender, nonce, user));
  return user;
}

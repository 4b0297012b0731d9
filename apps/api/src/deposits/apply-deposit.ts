import type { DepositFact } from "@causeway/chains";
import { decide, type DepositId, isFronted, payBy, seenSince, UNATTESTABLE_DEPOSIT } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { Move, TransitionServices } from "../requests/index.ts";
import { type MovedDeposit, type Reading, recordOf, type Records } from "./deposit-reading.ts";
import { madeAtMs } from "./fast-fill-deposit-deadline.ts";
import { paymentKey, type ServiceTransactions, verdictOf } from "./judge-recorded.ts";

/** Dependencies of recording deposits. */
export type RecordingServices = TransitionServices & Pick<Services, "enginePolicy" | "planAhead">;

/** The rows that are read for a batch of deposits. */
interface KnownRows {
  readonly sent: ServiceTransactions;
  /** The deposits that the requests have now. */
  readonly current: ReadonlyMap<DepositId, DepositRecord>;
}

/** The effect of a deposit on its request, if any. */
export async function findMove(
  services: RecordingServices,
  tx: Tx,
  { chain, headNumber, seenAtMs }: Reading,
  { fact, deposit }: MovedDeposit,
  record: RequestRecord | undefined,
  { sent, current }: KnownRows,
): Promise<Move | undefined> {
  const shared = { chain: chain.name, txHash: fact.txHash, currency: fact.currency, amount: fact.amount };
  if (record === undefined) {
    tx.events.alarm("deposit_unattributed", { ...shared, depositor: fact.depositor, orderId: fact.id });
    return undefined;
  }
  const { terms, state } = record;
  // A deposit whose refund is under way can no longer pay for anything.
  const isRefunded = deposit.refundState === "sent" || deposit.refundState === "final";
  if (isRefunded && state.depositId !== deposit.id) return undefined;
  const verdict = verdictOf(chain, record, fact, sent);
  const isUnattestable = verdict.kind === "mismatch" && verdict.reason === "DEPOSIT_UNATTESTABLE";
  // The recipient has the output, or is about to: a refund would pay twice, and an unattestable deposit
  // repays neither.
  if (isUnattestable && isFronted(state) && state.depositId === undefined) {
    await keepUnattributed(tx, deposit, record);
    tx.events.alarm("deposit_unattributed", {
      ...shared,
      depositor: fact.depositor,
      orderId: fact.id,
      reason: UNATTESTABLE_DEPOSIT,
    });
    return undefined;
  }
  const nowMs = services.clock.nowMs();
  tx.events.happened("deposit_seen", {
    ...shared,
    requestId: terms.requestId,
    verdict: verdict.kind === "match" ? "match" : verdict.reason,
    block: fact.blockNumber,
    tookMs: nowMs - seenAtMs,
  });
  const concernsRequest = verdict.kind === "match" || verdict.byUser || chain.paysFromAnyAddress === true;
  const isConfirmed = deposit.confirmAtBlock <= headNumber;
  if (
    fact.isUnattestable === true &&
    record.state.depositId === deposit.id &&
    deposit.disposition === "accepted"
  ) {
    const move = await giveUpUnattestable(tx, record, deposit);
    if (move !== undefined) return move;
  }
  if (record.state.depositId === deposit.id && !isConfirmed)
    return { record, event: { kind: "depositUnconfirmed", depositId: deposit.id } };
  const orphaned = orphanedDeposit(current, record, deposit);
  const otherHashes = record.inTxHashes.filter((hash) => hash !== orphaned?.txHash);
  return {
    record,
    event: {
      kind: "depositSeen",
      depositId: deposit.id,
      verdict,
      confirmed: isConfirmed,
      late:
        nowMs > terms.fillDeadlineMs ||
        (await arrivedAtMs(tx, terms, chain, fact, sent, nowMs)) > payBy(terms),
      beyondLead: await isBeyondLead(tx, record, { deposit, orphaned }, madeAtMs(chain, fact, nowMs)),
      replaces: orphaned !== undefined,
    },
    change:
      concernsRequest && !otherHashes.includes(fact.txHash)
        ? { inTxHashes: [...otherHashes, fact.txHash] }
        : {},
    facts: { depositId: deposit.id, txHash: fact.txHash, block: fact.blockNumber, seenAtMs },
  };
}

/** Leaves the deposit to the operator. */
async function keepUnattributed(
  tx: Pick<Tx, "deposits">,
  { id }: Pick<DepositRecord, "id">,
  { terms: { requestId } }: RequestRecord,
): Promise<void> {
  await tx.deposits.setDispositions([{ id, disposition: "unattributed", requestId }]);
}

/**
 * A reorg moved the request's deposit into a block where oracles cannot attest it. The app stays liable until
 * its fast fill is booked, as for a new deposit. Undefined: the fill is under way or booked, and continues.
 */
async function giveUpUnattestable(
  tx: Tx,
  record: RequestRecord,
  { id: depositId, txHash }: DepositRecord,
): Promise<Move | undefined> {
  const { requestId } = record.terms;
  const facts = { requestId, depositId, txHash, reason: UNATTESTABLE_DEPOSIT };
  if (record.state.front === "none") {
    const event = { kind: "fillImpossible", reason: "DEPOSIT_UNATTESTABLE" } as const;
    if (decide(record.state, event).kind === "applied") {
      tx.events.alarm("fill_impossible", facts);
      return { record, event, facts: { depositId } };
    }
  } else if ((await tx.fastFills.find(requestId))?.coverState !== "booked") {
    await keepUnattributed(tx, { id: depositId }, record);
    tx.events.alarm("deposit_unattributed", facts);
    return { record, event: { kind: "depositRemoved", depositId } };
  }
  tx.events.alarm("deposit_exposed", facts);
  return undefined;
}

/** Locks the current deposits of the requests that other deposits name. */
export async function lockCurrent(
  tx: Pick<Tx, "deposits">,
  moved: readonly MovedDeposit[],
  records: Records,
): Promise<KnownRows["current"]> {
  const ids = moved.flatMap((movedDeposit) => {
    const depositId = recordOf(records, movedDeposit)?.state.depositId;
    return depositId === undefined || depositId === movedDeposit.deposit.id ? [] : [depositId];
  });
  return ids.length === 0 ? new Map() : await tx.deposits.lockAll(ids);
}

/** The request's deposit if it was orphaned: the user's wallet may have replaced it by this one. */
function orphanedDeposit(
  current: KnownRows["current"],
  { state }: RequestRecord,
  { id }: DepositRecord,
): DepositRecord | undefined {
  if (state.depositId === undefined || state.depositId === id) return undefined;
  const currentDeposit = current.get(state.depositId);
  return currentDeposit?.canonical === false && currentDeposit.refundState === "none"
    ? currentDeposit
    : undefined;
}

/**
 * When the funds of a deposit arrived: funds that reached the deposit address in time are in time, even if
 * their sweep is late.
 */
async function arrivedAtMs(
  tx: Pick<Tx, "depositAddresses">,
  { requestId, depositAddress }: RequestRecord["terms"],
  { id: chainId }: Reading["chain"],
  fact: Pick<DepositFact, "txHash" | "currency" | "amount">,
  sent: ServiceTransactions,
  nowMs: number,
): Promise<number> {
  if (depositAddress === undefined) return nowMs;
  const sweptSinceMs = sent.get(paymentKey({ requestId, txHash: fact.txHash }))?.sweptSinceMs;
  if (sweptSinceMs !== undefined) return sweptSinceMs;
  // Anyone may deposit funds of a strict address; the observation says when they arrived.
  const observed = await tx.depositAddresses.funds(chainId, depositAddress.address);
  const funds = observed.find(({ currency }) => currency === fact.currency);
  return seenSince(funds?.layers ?? [], fact.amount) ?? nowMs;
}

/**
 * Whether a fast fill that still lacks its deposit was accepted too long before this deposit was made: such a
 * fill cannot be settled against it.
 */
async function isBeyondLead(
  tx: Tx,
  { state, terms }: RequestRecord,
  { deposit, orphaned }: { readonly deposit: DepositRecord; readonly orphaned: DepositRecord | undefined },
  depositedAtMs: number,
): Promise<boolean> {
  // The deposit returns after a reorg, or replaces one that arrived in time: a refund would cost as much as a
  // fill that is never repaid, and the user would have both.
  if (deposit.disposition === "accepted" || orphaned !== undefined) return false;
  if (state.front === "none" || state.depositId !== undefined) return false;
  const untilMs = (await tx.fastFills.find(terms.requestId))?.depositUntilMs;
  return untilMs !== undefined && depositedAtMs > untilMs;
}

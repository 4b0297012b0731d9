import type { DepositFact } from "@causeway/chains";
import {
  agreedUsd,
  confirmAtBlock,
  confirmationsFor,
  decide,
  isFronted,
  judgeDeposit,
  payBy,
  seenSince,
  UNATTESTABLE_DEPOSIT,
  depositoryOf,
} from "@causeway/domain";
import type { Chain, DepositId, DepositVerdict, FailReason, OrderId, NonEvmChain } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import { sentTogether } from "../db/sent-together.ts";
import type { Services } from "../db/services.port.ts";
import type {
  DepositSighting,
  NewDeposit,
  RequestTransaction,
  ServiceTransaction,
  Tx,
} from "../db/unit-of-work.port.ts";
import { type Move, transitionAll, type TransitionServices } from "../requests/index.ts";
import { madeAtMs } from "./fast-fill-lead.ts";
import type { TooSmall } from "./too-small-deposits.ts";

const BEYOND_ALL_TIERS = 2n ** 255n;

/** Dependencies of recording deposits. */
export type RecordingServices = TransitionServices & Pick<Services, "enginePolicy" | "planAhead">;

/** Where and when deposits were read. On non-EVM chains they are already final. */
export interface Reading {
  readonly chain: Chain | NonEvmChain;
  /** Height of the chain as far as the reader knows. */
  readonly headNumber: bigint;
  /** When this process saw the block (ms since the epoch): the start of the fill latency. */
  readonly seenAtMs: number;
  /** Absent: no deposit counts as too small. */
  readonly isTooSmall?: TooSmall;
}

/** A deposit that is new, or is now in another block. */
export interface MovedDeposit {
  readonly fact: Omit<DepositFact, "logIndex">;
  readonly deposit: DepositRecord;
}

/**
 * Stores deposits read from canonical blocks and applies each to the request that it names. Idempotent: what
 * is already known in the same block changes nothing.
 */
export async function recordDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<void> {
  await actOnDeposits(services, tx, reading, await storeDeposits(tx, reading, facts));
}

/** The rows that {@link storeDeposits} reads first, for deposits that are new or in another block. */
export interface FoundDeposits {
  readonly fresh: readonly DepositFact[];
  readonly records: Records;
  readonly exposure: { usd: bigint };
}

/** Reads what storing deposits needs, in one round trip, and locks their requests. */
export async function findDeposits(
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<FoundDeposits> {
  const sighted = new Map(facts.map((fact) => [factKey(fact), fact]));
  if (sighted.size === 0) return { fresh: [], records: new Map(), exposure: { usd: 0n } };
  const [fresh, records, exposure] = await sentTogether([
    tx.deposits.unrecorded(reading.chain.id, [...sighted.values()].map(sightingOf)),
    lockRequests(tx, [...sighted.values()]),
    exposureOn(tx, reading),
  ]);
  return { fresh: fresh.flatMap((sighting) => sighted.get(depositKey(sighting)) ?? []), records, exposure };
}

/**
 * The first half: stores the rows. Locks the requests and decides nothing.
 * @returns new or moved deposits, in the order of the facts
 */
export async function storeDeposits(
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<MovedDeposit[]> {
  const { chain } = reading;
  const sighted = new Map(facts.map((fact) => [factKey(fact), fact]));
  if (sighted.size === 0) return [];
  // Most are known, and their requests stay unlocked.
  const unrecorded = await tx.deposits.unrecorded(chain.id, [...sighted.values()].map(sightingOf));
  const fresh = unrecorded.flatMap((sighting) => sighted.get(depositKey(sighting)) ?? []);
  return fresh.length === 0 ? [] : await storeFound(tx, reading, await findDeposits(tx, reading, fresh));
}

/** {@link storeDeposits} for deposits that were already looked up. */
export async function storeFound(
  tx: Tx,
  reading: Reading,
  { fresh, records, exposure }: FoundDeposits,
): Promise<MovedDeposit[]> {
  if (fresh.length === 0) return [];
  const changed = await tx.deposits.record(
    reading.chain.id,
    fresh.map((fact) =>
      newDeposit(reading, fact, fact.id === undefined ? undefined : records.get(fact.id), exposure),
    ),
  );
  const stored = new Map(changed.map((deposit) => [depositKey(deposit), deposit]));
  return fresh.flatMap((fact) => {
    const deposit = stored.get(factKey(fact));
    return deposit === undefined ? [] : [{ fact, deposit }];
  });
}

/** Identifies a deposit within its chain. */
export function depositKey(deposit: Omit<DepositSighting, "blockHash" | "isUnattestable">): string {
  const { txHash, currency, amount, depositor, sender, orderId = "", ordinal } = deposit;
  return [txHash, currency, amount, depositor, sender, orderId, ordinal].join(" ");
}

export function factKey(fact: DepositFact): string {
  return depositKey({ ...fact, orderId: fact.id });
}

/**
 * The second half: applies each deposit to its request. In between, a watcher removes what was orphaned, so
 * that an old deposit does not block a new one.
 *
 * Requests are independent of each other, so the first deposit of each goes in the same few statements, then
 * the second of each, and so on.
 * @param locked the requests, if they are locked and unchanged since
 */
export async function actOnDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  moved: readonly MovedDeposit[],
  locked?: Records,
): Promise<void> {
  const facts = moved.map(({ fact }) => fact);
  const records = new Map(locked ?? (await lockRequests(tx, facts)));
  const sent = await serviceTransactions(tx, reading, moved, records);
  for (let left = moved; left.length > 0;) {
    const { tooSmall, now, later } = nextDeposits(reading, left, records, sent);
    // Before the transitions, which may read the deposits of their request.
    if (tooSmall.length > 0) await tx.deposits.keepTooSmall(tooSmall);
    const known = { sent, current: await lockCurrent(tx, now, records) };
    const moves: Move[] = [];
    for (const one of now) {
      const move = await moveBy(services, tx, reading, one, recordOf(records, one), known);
      if (move !== undefined) moves.push(move);
    }
    const transitions = await transitionAll(services, tx, moves);
    for (const { record } of transitions) records.set(record.terms.orderId, record);
    for (const one of now) {
      const record = recordOf(records, one);
      if (record?.state.name === "fillable") services.planAhead?.(record, one.deposit);
    }
    left = later;
  }
}

type Records = ReadonlyMap<OrderId, RequestRecord>;

function recordOf(records: Records, { fact }: MovedDeposit): RequestRecord | undefined {
  return fact.id === undefined ? undefined : records.get(fact.id);
}

interface NextDeposits {
  /** Those to keep without a refund, for these reasons. */
  readonly tooSmall: readonly { readonly id: DepositId; readonly reason: FailReason }[];
  /** At most one per request. */
  readonly now: readonly MovedDeposit[];
  /** Those whose request first needs its transition by an earlier deposit. */
  readonly later: readonly MovedDeposit[];
}

function nextDeposits(
  reading: Reading,
  moved: readonly MovedDeposit[],
  records: Records,
  sent: ServiceTransactions,
): NextDeposits {
  const tooSmall: { id: DepositId; reason: FailReason }[] = [];
  const [now, later]: [MovedDeposit[], MovedDeposit[]] = [[], []];
  const changing = new Set<RequestRecord>();
  for (const one of moved) {
    const record = recordOf(records, one);
    const small = reading.isTooSmall?.(one.fact) === true;
    if (record === undefined) {
      if (!small) now.push(one);
      continue;
    }
    if (changing.has(record)) {
      later.push(one);
      continue;
    }
    const reason = small ? whyKept(reading, one, record, sent) : undefined;
    if (reason !== undefined) {
      tooSmall.push({ id: one.deposit.id, reason });
      continue;
    }
    changing.add(record);
    now.push(one);
  }
  return { tooSmall, now, later };
}

/**
 * The refund reason of a deposit too small to be refunded, if nothing else follows from it: then only its row
 * is written. Undefined if something else follows.
 */
function whyKept(
  { chain }: Reading,
  { fact, deposit }: MovedDeposit,
  record: RequestRecord,
  sent: ServiceTransactions,
): FailReason | undefined {
  const { state, inTxHashes } = record;
  const { refundState, refundReleasedAtMs } = deposit;
  const isUnderWay = refundState === "sent" || refundState === "final" || refundReleasedAtMs !== undefined;
  if (isUnderWay || state.depositId === deposit.id) return undefined;
  const verdict = verdictOf(chain, record, fact, sent);
  if (verdict.kind === "match" || verdict.reason === "DEPOSIT_UNATTESTABLE") return undefined;
  // A wrong deposit by the user becomes the request's if the fast fill fails.
  if (verdict.byUser && isFronted(state)) return undefined;
  const speaks = verdict.byUser || chain.paysFromAnyAddress === true;
  if (speaks && !inTxHashes.includes(fact.txHash)) return undefined;
  const seen = {
    kind: "depositSeen",
    depositId: deposit.id,
    verdict,
    confirmed: false,
    late: false,
  } as const;
  const decision = decide(state, seen);
  if (decision.kind !== "applied") return undefined;
  const [effect, ...more] = decision.effects;
  if (effect?.kind !== "refundDeposit" || more.length > 0) return undefined;
  const { next } = decision;
  const isUnchanged =
    next.name === state.name && next.depositId === state.depositId && next.front === state.front;
  return isUnchanged ? effect.reason : undefined;
}

function lockRequests(tx: Tx, facts: readonly MovedDeposit["fact"][]): Promise<Map<OrderId, RequestRecord>> {
  const orderIds = facts.flatMap((fact) => (fact.id === undefined ? [] : [fact.id as OrderId]));
  return tx.requests.lockByOrders([...new Set(orderIds)]);
}

/**
 * A further matching deposit, due for refund, replaces one that was orphaned, unless its refund was sent.
 * Refunds wait for confirmations, so there usually is time.
 */
export async function replaceOrphaned(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  record: RequestRecord,
): Promise<void> {
  const { chain } = reading;
  for (const deposit of await tx.deposits.refundsDue(record.terms.requestId, chain.id)) {
    const fact = { ...deposit, id: deposit.orderId };
    if (judgeDeposit(record.terms, { ...fact, chainId: chain.id }).kind !== "match") continue;
    const moved = { fact, deposit };
    const records = new Map([[record.terms.orderId, record]]);
    const move = await moveBy(services, tx, reading, moved, record, {
      sent: await serviceTransactions(tx, reading, [moved], records),
      current: await lockCurrent(tx, [moved], records),
    });
    if (move !== undefined) await transitionAll(services, tx, [move]);
    return;
  }
}

/** Value filled against blocks that may still be orphaned: read once; the caller adds to it. */
async function exposureOn(tx: Tx, { chain, headNumber }: Reading): Promise<{ usd: bigint }> {
  if (chain.maxUnconfirmedUsd === undefined) return { usd: 0n };
  const strictest = confirmationsFor(chain.confirmationTiers, BEYOND_ALL_TIERS);
  return { usd: await tx.deposits.valueAbove(chain.id, headNumber - BigInt(strictest)) };
}

export function sightingOf(fact: DepositFact): DepositSighting {
  const { txHash, ordinal, currency, amount, depositor, sender, id: orderId, blockHash } = fact;
  const { isUnattestable, isAttestabilityUnknown } = fact;
  return {
    txHash,
    ordinal,
    currency,
    amount,
    depositor,
    sender,
    orderId,
    blockHash,
    ...(isUnattestable === true && { isUnattestable }),
    ...(isAttestabilityUnknown === true && { isAttestabilityUnknown }),
  };
}

function newDeposit(
  { chain, seenAtMs }: Reading,
  fact: DepositFact,
  record: RequestRecord | undefined,
  exposure: { usd: bigint },
): NewDeposit {
  // A deposit that differs from the agreed one needs the most confirmations: it is refunded and may be worth
  // any amount.
  const knownUsd = record && agreedUsd(record.terms, { chainId: chain.id, ...fact });
  const valueUsd = knownUsd ?? 0n;
  const confirmations = confirmationsOf(chain, knownUsd, exposure.usd);
  // Only filled deposits count as exposure.
  if (record && judgeDeposit(record.terms, { chainId: chain.id, ...fact }).kind === "match")
    exposure.usd += valueUsd;
  return {
    ...sightingOf(fact),
    blockNumber: fact.blockNumber,
    confirmAtBlock: confirmAtBlock(fact.blockNumber, confirmations),
    depository: fact.depository ?? depositoryOf(chain),
    requestId: record?.terms.requestId,
    seenAtMs,
    valueUsd,
  };
}

/** Confirmations that a deposit needs. */
export function confirmationsOf(
  { maxUnconfirmedUsd, confirmationTiers }: Reading["chain"],
  knownUsd: bigint | undefined,
  exposureUsd: bigint,
): number {
  const isBeyondCap = maxUnconfirmedUsd !== undefined && exposureUsd + (knownUsd ?? 0n) > maxUnconfirmedUsd;
  return confirmationsFor(
    confirmationTiers,
    knownUsd !== undefined && !isBeyondCap ? knownUsd : BEYOND_ALL_TIERS,
  );
}

/** The effect of a deposit on its request, if any. */
async function moveBy(
  services: RecordingServices,
  tx: Tx,
  { chain, headNumber, seenAtMs }: Reading,
  { fact, deposit }: MovedDeposit,
  record: RequestRecord | undefined,
  { sent, current }: Known,
): Promise<Move | undefined> {
  const shared = { chain: chain.name, txHash: fact.txHash, currency: fact.currency, amount: fact.amount };
  if (record === undefined) {
    tx.events.alarm("deposit_unattributed", { ...shared, depositor: fact.depositor, orderId: fact.id });
    return undefined;
  }
  const { terms, state } = record;
  // Its refund is under way, so it can no longer pay for anything.
  const isRefunded = deposit.refundState === "sent" || deposit.refundState === "final";
  if (isRefunded && state.depositId !== deposit.id) return undefined;
  const verdict = verdictOf(chain, record, fact, sent);
  const isOwnUnattestable = verdict.kind === "mismatch" && verdict.reason === "DEPOSIT_UNATTESTABLE";
  // The recipient has the output, or is about to: a refund would pay twice, and an unattestable deposit
  // repays neither.
  if (isOwnUnattestable && isFronted(state) && state.depositId === undefined) {
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
  const confirmed = deposit.confirmAtBlock <= headNumber;
  if (
    fact.isUnattestable === true &&
    record.state.depositId === deposit.id &&
    deposit.disposition === "accepted"
  ) {
    const move = await giveUpUnattestable(tx, record, deposit);
    if (move !== undefined) return move;
  }
  if (record.state.depositId === deposit.id && !confirmed)
    return { record, event: { kind: "depositUnconfirmed", depositId: deposit.id } };
  const orphaned = orphanedDeposit(current, record, deposit);
  const known = record.inTxHashes.filter((hash) => hash !== orphaned?.txHash);
  return {
    record,
    event: {
      kind: "depositSeen",
      depositId: deposit.id,
      verdict,
      confirmed,
      late:
        nowMs > terms.fillDeadlineMs ||
        (await arrivedAtMs(tx, terms, chain, fact, sent, nowMs)) > payBy(terms),
      beyondLead: await isBeyondLead(tx, record, { deposit, orphaned }, madeAtMs(chain, fact, nowMs)),
      replaces: orphaned !== undefined,
    },
    change: concernsRequest && !known.includes(fact.txHash) ? { inTxHashes: [...known, fact.txHash] } : {},
    facts: { depositId: deposit.id, txHash: fact.txHash, block: fact.blockNumber, seenAtMs },
  };
}

/** The operator decides about it. */
async function keepUnattributed(
  tx: Pick<Tx, "deposits">,
  { id }: Pick<DepositRecord, "id">,
  { terms: { requestId } }: RequestRecord,
): Promise<void> {
  await tx.deposits.setDispositions([{ id, disposition: "unattributed", requestId }]);
}

/**
 * A reorg moved the request's deposit into a block where oracles cannot attest it. The app stays liable until
 * its fast fill is booked, as at first sight. Undefined: the fill is under way or booked, and continues.
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

/** The rows that are read for a batch of deposits. */
interface Known {
  readonly sent: ServiceTransactions;
  /** The deposits that the requests have now. */
  readonly current: ReadonlyMap<DepositId, DepositRecord>;
}

/** Transactions that the service sent for the request that they pay, by {@link paymentKey}. */
type ServiceTransactions = ReadonlyMap<string, ServiceTransaction>;

function paymentKey({ requestId, txHash }: RequestTransaction): string {
  return `${requestId} ${txHash}`;
}

/** Looks up which deposits the service sent itself, where that matters. */
async function serviceTransactions(
  tx: Pick<Tx, "deposits">,
  { chain }: Reading,
  moved: readonly MovedDeposit[],
  records: Records,
): Promise<ServiceTransactions> {
  const asked = new Map<string, RequestTransaction>();
  for (const one of moved) {
    const record = recordOf(records, one);
    if (record === undefined) continue;
    const { requestId, depositAddress } = record.terms;
    const payment = { requestId, txHash: one.fact.txHash };
    if (depositAddress !== undefined || isForeign(judge(chain, record, one.fact)))
      asked.set(paymentKey(payment), payment);
  }
  if (asked.size === 0) return new Map();
  const found = await tx.deposits.sentByService([...asked.values()]);
  return new Map(found.map((one) => [paymentKey(one), one]));
}

/** Executions are signed by the service, not by the user. */
function verdictOf(
  chain: Reading["chain"],
  record: RequestRecord,
  fact: MovedDeposit["fact"],
  sent: ServiceTransactions,
): DepositVerdict {
  const verdict = judge(chain, record, fact);
  if (!isForeign(verdict)) return verdict;
  const { requestId } = record.terms;
  return judge(chain, record, fact, sent.has(paymentKey({ requestId, txHash: fact.txHash })));
}

export function judge(
  chain: Reading["chain"],
  { terms }: RequestRecord,
  fact: MovedDeposit["fact"],
  byExecution = false,
): DepositVerdict {
  const isFromAnyAddress = chain.paysFromAnyAddress === true;
  return judgeDeposit(terms, { chainId: chain.id, isFromAnyAddress, ...fact, byExecution });
}

function isForeign(verdict: DepositVerdict): boolean {
  return verdict.kind === "mismatch" && !verdict.byUser;
}

/** Locks the deposits that the requests have, as far as other deposits name these requests. */
async function lockCurrent(
  tx: Pick<Tx, "deposits">,
  moved: readonly MovedDeposit[],
  records: Records,
): Promise<Known["current"]> {
  const ids = moved.flatMap((one) => {
    const depositId = recordOf(records, one)?.state.depositId;
    return depositId === undefined || depositId === one.deposit.id ? [] : [depositId];
  });
  return ids.length === 0 ? new Map() : await tx.deposits.lockAll(ids);
}

/** The request's deposit if it was orphaned: the user's wallet may have replaced it by this one. */
function orphanedDeposit(
  current: Known["current"],
  { state }: RequestRecord,
  { id }: DepositRecord,
): DepositRecord | undefined {
  if (state.depositId === undefined || state.depositId === id) return undefined;
  const own = current.get(state.depositId);
  return own?.canonical === false && own.refundState === "none" ? own : undefined;
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
  // Anyone may deposit funds of a strict address; the observation there says when they arrived.
  const observed = await tx.depositAddresses.funds(chainId, depositAddress.address);
  const funds = observed.find(({ currency }) => currency === fact.currency);
  return seenSince(funds?.layers ?? [], fact.amount) ?? nowMs;
}

/**
 * Whether a fast fill without its deposit was accepted too long before this deposit was made to be settled
 * against it.
 */
async function isBeyondLead(
  tx: Tx,
  { state, terms }: RequestRecord,
  { deposit, orphaned }: { readonly deposit: DepositRecord; readonly orphaned: DepositRecord | undefined },
  depositedAtMs: number,
): Promise<boolean> {
  // It returns, or replaces one that arrived in time: a refund would cost as much as a fill that is never
  // repaid, and the user would have both.
  if (deposit.disposition === "accepted" || orphaned !== undefined) return false;
  if (state.front === "none" || state.depositId !== undefined) return false;
  const untilMs = (await tx.fastFills.find(terms.requestId))?.depositUntilMs;
  return untilMs !== undefined && depositedAtMs > untilMs;
}

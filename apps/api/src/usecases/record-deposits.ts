import type { DepositFact } from "@causeway/chains";
import {
  agreedUsd,
  confirmAtBlock,
  confirmationsFor,
  isFronted,
  judgeDeposit,
  payBy,
  seenSince,
  UNATTESTABLE_DEPOSIT,
} from "@causeway/domain";
import type { Chain, DepositVerdict, OrderId, RailChain } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import type { Tx } from "../ports/unit-of-work.ts";
import { transition } from "./transition.ts";
import { depositoryOf } from "./depository-of.ts";
import { paysFromAnyAddress } from "./refund-terms.ts";
import type { TransitionServices } from "./transition.ts";

const BEYOND_ALL_TIERS = 2n ** 255n;

/** What recording deposits asks for. */
export type RecordingServices = TransitionServices & Pick<Services, "enginePolicy">;

/** Where and when deposits were read. Of a chain that is reached by a rail they are final already. */
export interface Reading {
  readonly chain: Chain | RailChain;
  /** Height of the chain as far as the reader knows it. */
  readonly headNumber: bigint;
  /** When this process heard of the block (ms since epoch): the start of the fill's latency. */
  readonly seenAtMs: number;
}

/** A deposit that is new, or stands in another block than it did. */
export interface MovedDeposit {
  readonly fact: Omit<DepositFact, "logIndex">;
  readonly deposit: DepositRecord;
}

/**
 * Writes down deposits read from canonical blocks and lets each act on the request it names. May be called any number of times with the same facts,
 * by the watcher and by a client's hint alike: what is known already in the same block changes nothing.
 */
export async function recordDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<void> {
  await actOnDeposits(services, tx, reading, await storeDeposits(tx, reading, facts));
}

/** The first half: the rows. Requests are locked, and nothing is decided yet. */
export async function storeDeposits(
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<MovedDeposit[]> {
  const records = await lockRequests(tx, facts);
  const lent = await lentOn(tx, reading, facts.length);
  const moved: MovedDeposit[] = [];
  for (const fact of facts) {
    const record = fact.id === undefined ? undefined : records.get(fact.id);
    const stored = await storeOne(tx, reading, fact, record, lent);
    if (stored) moved.push(stored);
  }
  return moved;
}

/** The second half: what each means to its request. Between the two a watcher takes back what vanished blocks said, so that an old deposit does not stand in a new one's way. */
export async function actOnDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  moved: readonly MovedDeposit[],
): Promise<void> {
  const records = await lockRequests(
    tx,
    moved.map(({ fact }) => fact),
  );
  for (const one of moved) {
    const record = one.fact.id === undefined ? undefined : records.get(one.fact.id);
    const next = await actOn(services, tx, reading, one, record);
    if (next) records.set(next.terms.orderId, next);
  }
}

function lockRequests(tx: Tx, facts: readonly MovedDeposit["fact"][]): Promise<Map<OrderId, RequestRecord>> {
  const orderIds = facts.flatMap((fact) => (fact.id === undefined ? [] : [fact.id as OrderId]));
  return tx.requests.lockByOrders([...new Set(orderIds)]);
}

/**
 * A further deposit of the request, to be refunded as such, takes the place of one that has vanished; unless that refund was sent.
 * Refunds wait for confirmations, so there mostly is time.
 */
export async function replaceVanished(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  record: RequestRecord,
): Promise<void> {
  const { chain } = reading;
  for (const deposit of await tx.deposits.refundsDue(record.terms.requestId, chain.id)) {
    const fact = { ...deposit, id: deposit.orderId };
    if (judgeDeposit(record.terms, { ...fact, chainId: chain.id }).kind !== "match") continue;
    await actOn(services, tx, reading, { fact, deposit }, record);
    return;
  }
}

/** What is lent against blocks that may still vanish: read once, counted on by the caller. */
async function lentOn(tx: Tx, { chain, headNumber }: Reading, facts: number): Promise<{ usd: bigint }> {
  if (chain.vmType !== "evm" || chain.maxUnconfirmedUsd === undefined || facts === 0) return { usd: 0n };
  const strictest = confirmationsFor(chain.confirmationTiers, BEYOND_ALL_TIERS);
  return { usd: await tx.deposits.valueAbove(chain.id, headNumber - BigInt(strictest)) };
}

async function storeOne(
  tx: Tx,
  { chain, seenAtMs }: Reading,
  fact: DepositFact,
  record: RequestRecord | undefined,
  lent: { usd: bigint },
): Promise<MovedDeposit | undefined> {
  // What is not what was agreed is treated like the largest, for it goes back and may be worth anything.
  const knownUsd = record && agreedUsd(record.terms, { chainId: chain.id, ...fact });
  const valueUsd = knownUsd ?? 0n;
  const confirmations = confirmationsOf(chain, knownUsd, lent.usd);
  const { changed, record: deposit } = await tx.deposits.upsert({
    chainId: chain.id,
    txHash: fact.txHash,
    ordinal: fact.ordinal,
    blockNumber: fact.blockNumber,
    blockHash: fact.blockHash,
    confirmAtBlock: confirmAtBlock(fact.blockNumber, confirmations),
    depositor: fact.depositor,
    sender: fact.sender,
    currency: fact.currency,
    amount: fact.amount,
    depository: fact.depository ?? depositoryOf(chain),
    orderId: fact.id,
    requestId: record?.terms.requestId,
    disposition: "unattributed",
    reason: undefined,
    seenAtMs,
    valueUsd,
    ...(fact.isUnattestable === true && { isUnattestable: true }),
    ...(fact.isAttestabilityUnknown === true && { isAttestabilityUnknown: true }),
  });
  if (!changed) return undefined;
  // Only what is filled is lent against its block.
  if (record && judgeDeposit(record.terms, { chainId: chain.id, ...fact }).kind === "match")
    lent.usd += valueUsd;
  return { fact, deposit };
}

/** Blocks that a deposit is to wait for. */
function confirmationsOf(chain: Reading["chain"], knownUsd: bigint | undefined, lentUsd: bigint): number {
  if (chain.vmType !== "evm") return 1;
  const { maxUnconfirmedUsd, confirmationTiers } = chain;
  const isBeyondCap = maxUnconfirmedUsd !== undefined && lentUsd + (knownUsd ?? 0n) > maxUnconfirmedUsd;
  return confirmationsFor(
    confirmationTiers,
    knownUsd !== undefined && !isBeyondCap ? knownUsd : BEYOND_ALL_TIERS,
  );
}

async function actOn(
  services: RecordingServices,
  tx: Tx,
  { chain, headNumber, seenAtMs }: Reading,
  { fact, deposit }: MovedDeposit,
  record: RequestRecord | undefined,
): Promise<RequestRecord | undefined> {
  const shared = { chain: chain.name, txHash: fact.txHash, currency: fact.currency, amount: fact.amount };
  if (record === undefined) {
    services.events.alarm("deposit_unattributed", { ...shared, depositor: fact.depositor, orderId: fact.id });
    return undefined;
  }
  const { terms, state } = record;
  // Its money is on its way back: it pays for nothing any more.
  const isRefunded = deposit.refundState === "sent" || deposit.refundState === "final";
  if (isRefunded && state.depositId !== deposit.id) return undefined;
  const verdict = await verdictOn(tx, record, chain, fact);
  const isOwnUnattestable = verdict.kind === "mismatch" && verdict.reason === "DEPOSIT_UNATTESTABLE";
  // The recipient has the output, or is about to: a refund would pay twice, and an unattestable deposit repays neither.
  if (isOwnUnattestable && isFronted(state) && state.depositId === undefined) {
    await tx.deposits.setDisposition(deposit.id, "unattributed", undefined, terms.requestId);
    services.events.alarm("deposit_unattributed", {
      ...shared,
      depositor: fact.depositor,
      orderId: fact.id,
      reason: UNATTESTABLE_DEPOSIT,
    });
    return undefined;
  }
  const nowMs = services.clock.nowMs();
  services.events.happened("deposit_seen", {
    ...shared,
    requestId: terms.requestId,
    verdict: verdict.kind === "match" ? "match" : verdict.reason,
    block: fact.blockNumber,
    tookMs: nowMs - seenAtMs,
  });
  const speaksForRequest = verdict.kind === "match" || verdict.byUser || paysFromAnyAddress(chain);
  const confirmed = deposit.confirmAtBlock <= headNumber;
  if (
    fact.isUnattestable === true &&
    record.state.depositId === deposit.id &&
    deposit.disposition === "accepted"
  ) {
    const given = await giveUpUnattestable(services, tx, record, deposit);
    if (given !== undefined) return given;
  }
  if (record.state.depositId === deposit.id && !confirmed) {
    const moved = await transition(services, tx, record, {
      kind: "depositUnconfirmed",
      depositId: deposit.id,
    });
    return moved.record;
  }
  const vanished = await vanishedDeposit(tx, record, deposit);
  const known = record.inTxHashes.filter((hash) => hash !== vanished?.txHash);
  const { record: next } = await transition(
    services,
    tx,
    record,
    {
      kind: "depositSeen",
      depositId: deposit.id,
      verdict,
      confirmed,
      late: nowMs > terms.fillDeadlineMs || (await arrivedAtMs(tx, terms, chain, fact, nowMs)) > payBy(terms),
      beyondLead: await isBeyondLead(tx, record, vanished, nowMs),
      replaces: vanished !== undefined,
    },
    speaksForRequest && !known.includes(fact.txHash) ? { inTxHashes: [...known, fact.txHash] } : {},
    { depositId: deposit.id, txHash: fact.txHash, block: fact.blockNumber, seenAtMs },
  );
  return next;
}

/**
 * A reorg moved the request's deposit into a block where oracles can no longer attest it. An app that vouched stays liable until its fast fill is
 * booked, as at first sight. Undefined: the fill is under way or booked, and goes on.
 */
async function giveUpUnattestable(
  services: RecordingServices,
  tx: Tx,
  record: RequestRecord,
  { id: depositId, txHash }: DepositRecord,
): Promise<RequestRecord | undefined> {
  const { requestId } = record.terms;
  const facts = { requestId, depositId, txHash, reason: UNATTESTABLE_DEPOSIT };
  if (record.state.front === "none") {
    const event = { kind: "fillImpossible", reason: "DEPOSIT_UNATTESTABLE" } as const;
    const { decision, record: next } = await transition(services, tx, record, event, {}, { depositId });
    if (decision.kind === "applied") {
      services.events.alarm("fill_impossible", facts);
      return next;
    }
  } else if ((await tx.fastFills.find(requestId))?.coverState !== "booked") {
    await tx.deposits.setDisposition(depositId, "unattributed", undefined, requestId);
    services.events.alarm("deposit_unattributed", facts);
    return (await transition(services, tx, record, { kind: "depositRemoved", depositId })).record;
  }
  services.events.alarm("deposit_exposed", facts);
  return undefined;
}

/** The signer of what the service sent for a user is the service: whether it was this request's own execution is looked up only where that matters. */
async function verdictOn(
  tx: Pick<Tx, "lanes" | "depositAddresses">,
  { terms }: RequestRecord,
  chain: Reading["chain"],
  fact: MovedDeposit["fact"],
): Promise<DepositVerdict> {
  const deposit = { chainId: chain.id, isFromAnyAddress: paysFromAnyAddress(chain), ...fact };
  const verdict = judgeDeposit(terms, deposit);
  if (verdict.kind === "match" || verdict.byUser) return verdict;
  const leg = { kind: "execution", requestId: terms.requestId } as const;
  const byExecution =
    (await tx.lanes.isAttemptOf(leg, fact.txHash)) ||
    (terms.depositAddress !== undefined &&
      (await tx.depositAddresses.sweepBy(terms.requestId, fact.txHash)) !== undefined);
  return judgeDeposit(terms, { ...deposit, byExecution });
}

/** The deposit that the request has, when no canonical block holds it any more: the user's wallet may have replaced it by this one. */
async function vanishedDeposit(
  tx: Pick<Tx, "deposits">,
  { state }: RequestRecord,
  { id }: DepositRecord,
): Promise<DepositRecord | undefined> {
  if (state.depositId === undefined || state.depositId === id) return undefined;
  const own = await tx.deposits.lock(state.depositId);
  return own?.canonical === false && own.refundState === "none" ? own : undefined;
}

/** When the money of a deposit came: what was at the deposit address in time is in time, however long the service takes to move it. */
async function arrivedAtMs(
  tx: Pick<Tx, "depositAddresses">,
  { requestId, depositAddress }: RequestRecord["terms"],
  { id: chainId }: Reading["chain"],
  fact: Pick<DepositFact, "txHash" | "currency" | "amount">,
  nowMs: number,
): Promise<number> {
  if (depositAddress === undefined) return nowMs;
  const sweep = await tx.depositAddresses.sweepBy(requestId, fact.txHash);
  if (sweep !== undefined) return sweep.arrivedAtMs;
  // Anyone may deposit what is at a strict address; what was observed there says since when it was.
  const observed = await tx.depositAddresses.funds(chainId, depositAddress.address);
  const funds = observed.find(({ currency }) => currency === fact.currency);
  return seenSince(funds?.layers ?? [], fact.amount) ?? nowMs;
}

/** Whether a fill that does not have its deposit was accepted too long ago to be settled against one that comes now. */
async function isBeyondLead(
  tx: Tx,
  { state, terms }: RequestRecord,
  vanished: DepositRecord | undefined,
  nowMs: number,
): Promise<boolean> {
  // A refund would cost as much as a fill that is never repaid, and the user would have both.
  if (vanished !== undefined) return false;
  if (state.front === "none" || state.depositId !== undefined) return false;
  const untilMs = (await tx.fastFills.find(terms.requestId))?.depositUntilMs;
  return untilMs !== undefined && nowMs > untilMs;
}

import { followTrail, rangeOf } from "@causeway/chains";
import type { BlockRef, DepositFact, Head, TopUpFact } from "@causeway/chains";
import type { Chain } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Services } from "../db/services.port.ts";
import { awaitTogether } from "../db/await-together.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { actOnTopUps, findTopUps, type FoundTopUps, storeTopUps } from "../balances/index.ts";
import { planLikelyFills } from "./plan-likely-fills.ts";
import { actOnDeposits } from "./record-deposits.ts";
import { depositKey, factKey, findDeposits, storeFound } from "./store-deposits.ts";
import type { FoundDeposits } from "./store-deposits.ts";
import type { Reading } from "./deposit-reading.ts";
import { sliceDeposits, sliceEvenly } from "./deposit-slices.ts";
import type { Slice } from "./deposit-slices.ts";
import { followOrphanedDeposits, replacedBlocks } from "./remove-orphaned-deposits.ts";
import type { Advance } from "./remove-orphaned-deposits.ts";
import { tooSmallOn } from "./too-small-deposits.ts";
import { type Move, transitionAll, type TransitionServices } from "../requests/index.ts";

type Needs = Pick<Services, "events" | "uow" | "reads" | "enginePolicy" | "signer" | "planAhead"> &
  TransitionServices;

/** Another process moved the chain's cursor: this one no longer leads, or must read the trail again. */
export class TrailMoved extends Error {
  constructor(chainName: string) {
    super(`the cursor of ${chainName} was moved by another process`);
    this.name = "TrailMoved";
  }
}

/** Blocks kept per chain: twice the deepest reorg that is expected. */
export function trailLength(chain: { readonly finalityBlocks: number }): number {
  return Math.max(chain.finalityBlocks * 2, 128);
}

/** A new chain is scanned from a little behind its head, for deposits made before the watcher started. */
const FIRST_SCAN_BLOCKS = 64n;

/** Reads the stored trail of a chain, or starts one. @throws RpcFault */
export async function loadTrail(
  services: Pick<Services, "uow" | "reads">,
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
): Promise<readonly BlockRef[]> {
  const stored = await services.reads.trail(chain.id);
  if (stored.length > 0) return stored;
  const head = await connection.reader.head();
  const start = head.number > FIRST_SCAN_BLOCKS ? head.number - FIRST_SCAN_BLOCKS : 0n;
  const block = await connection.reader.block(start);
  if (block === undefined) return loadTrail(services, { chain, connection });
  await services.uow.run(async (tx) => {
    if ((await tx.trail.lockCursor(chain.id)) !== undefined) return;
    await tx.trail.replace(chain.id, start, [block], trailLength(chain));
    await tx.trail.setCursor(chain.id, block);
  });
  return services.reads.trail(chain.id);
}

/** Bounds the blocks per step, and is notified of each committed step. */
export interface StepLimits {
  maxBlocks(): number;
  noteCommit(): void;
}

/**
 * Reads the chain up to `head`, in steps of a limited block range. A step's deposits are stored in slices,
 * each one commit; the last slice moves the cursor. After a crash in between, the range is read again:
 * recorded deposits are skipped, orphaned ones removed.
 * @returns the trail, now ending with `head`
 * @throws RpcFault when the node's answers fail or contradict each other: retry
 * @throws TrailMoved
 */
export async function scanChain(
  services: Needs,
  connected: Pick<ConnectedChain, "chain" | "connection" | "pulse">,
  trail: readonly BlockRef[],
  head: Head,
  pace: StepLimits = { maxBlocks: () => services.enginePolicy.maxScanBlocks, noteCommit: () => undefined },
): Promise<readonly BlockRef[]> {
  const { chain, connection } = connected;
  let currentTrail = trail;
  for (;;) {
    const change = await followTrail(connection.reader, currentTrail, head, pace.maxBlocks());
    if (change.kind === "unchanged") return currentTrail;
    const [first] = change.append;
    const last = change.append.at(-1);
    if (first === undefined || last === undefined) return currentTrail;
    const isHome = chain.id === services.appBalance.chainId;
    const [facts, topUps] = await Promise.all([
      connection.reader.depositsIn(rangeOf(change.append)),
      isHome ? connection.reader.topUpsIn(services.signer.address, change.append) : [],
    ]);
    const isTooSmall = tooSmallOn(services, connected);
    const reading = { chain, headNumber: last.number, seenAtMs: head.seenAtMs, isTooSmall };
    const timedFacts = withBlockTimes(facts, change.append);
    await recordAdvance(services, reading, { trail: currentTrail, change }, { facts: timedFacts, topUps });
    currentTrail = [...currentTrail.filter((block) => block.number < first.number), ...change.append].slice(
      -trailLength(chain),
    );
    pace.noteCommit();
    // Every block is scanned; log only those with content.
    if (facts.length > 0 || change.append.length > 1)
      services.events.happened("chain_scanned", {
        chain: chain.name,
        from: first.number,
        to: last.number,
        deposits: facts.length,
        tookMs: services.clock.nowMs() - head.seenAtMs,
      });
    if (last.hash === head.hash) return currentTrail;
  }
}

/** Adds the times of the deposits' blocks: they decide whether a deposit arrived in time. */
function withBlockTimes(facts: readonly DepositFact[], blocks: readonly BlockRef[]): readonly DepositFact[] {
  const times = new Map(blocks.map(({ number, timestamp }) => [number, timestamp]));
  return facts.map((fact) => {
    const timestamp = times.get(fact.blockNumber);
    return timestamp === undefined ? fact : { ...fact, timestamp };
  });
}

type ScanReading = Required<Reading> & { readonly chain: Chain };

/** The contents of a step's blocks. */
interface BlockContents {
  readonly facts: readonly DepositFact[];
  readonly topUps: readonly TopUpFact[];
}

/**
 * Stores a step in commits of a limited size. Client reports may be recorded in between, against the trail of
 * that moment: so the first commit ends the trail below the blocks that it replaces, and the last commit
 * removes orphans again.
 */
async function recordAdvance(
  services: Needs,
  reading: ScanReading,
  advance: Advance,
  contents: BlockContents,
): Promise<void> {
  let isFirst = true;
  for (let remaining: BlockContents | undefined = contents; remaining !== undefined; isFirst = false) {
    const { facts, topUps } = remaining;
    remaining = await services.uow.run(async (tx): Promise<BlockContents | undefined> => {
      // Sent together: deposits wait for every round trip of this commit.
      const [, { slice, isLast, deposits }] = await awaitTogether([
        lockToAdvance(tx, reading.chain, advance, isFirst),
        nextPart(tx, reading, advance, { contents, remaining: { facts, topUps } }, isFirst),
      ]);
      planLikelyFills(services, reading, deposits);
      // Deposits that were mined again move to their new block before the other orphans are removed, and act
      // only after that.
      const isReorgOver = isLast && advance.change.orphanedFrom !== undefined;
      const topUpsNow = isReorgOver ? contents.topUps : slice.topUps.now;
      const [moved, orphaned, due, homeTopUps] = await awaitTogether([
        storeFound(tx, reading, deposits),
        isFirst || isLast
          ? tx.deposits.removeOrphaned(reading.chain.id, ...replacedBlocks(advance))
          : Promise.resolve([]),
        isLast ? tx.deposits.dueConfirmed(reading.chain.id, reading.headNumber) : Promise.resolve([]),
        isLast && topUpsNow.length === 0
          ? findTopUpsOn(services, tx, advance, reading)
          : Promise.resolve(undefined),
      ]);
      await storeTopUps(services, tx, topUpsNow, reading.seenAtMs);
      if (isFirst) announceReorg(tx, reading.chain, advance);
      await followOrphanedDeposits(services, tx, reading, orphaned);
      // An orphan may have changed the request of a deposit.
      await actOnDeposits(services, tx, reading, moved, orphaned.length === 0 ? deposits.records : undefined);
      // A deposit that is confirmed at first sight acted as such above: it makes no other deposit due.
      if (isLast && orphaned.length + due.length > 0)
        await confirm(services, tx, reading.chain.id, reading.headNumber);
      if (isLast) return await finishAdvance(services, tx, reading, advance, homeTopUps);
      if (isFirst) await beginAdvance(tx, reading.chain, advance);
      return { facts: slice.facts.later, topUps: slice.topUps.later };
    });
  }
}

/**
 * Locks the cursor for a commit of this advance. Later commits require that this advance made the first one:
 * another leader may have started on another branch.
 * @throws TrailMoved
 */
async function lockToAdvance(tx: Tx, { id, name }: Chain, advance: Advance, isFirst: boolean): Promise<void> {
  const cursor = await tx.trail.lockCursor(id);
  if (isFirst) {
    if (cursor?.hash !== advance.trail.at(-1)?.hash) throw new TrailMoved(name);
    return;
  }
  const { ancestor, last } = endsOf(advance);
  if (cursor?.hash !== ancestor.hash || cursor.advancesTo !== last.hash) throw new TrailMoved(name);
}

/** After a crash, the next reader must read again, on any branch, all that this advance may have written. */
async function beginAdvance(tx: Tx, { id }: Chain, advance: Advance): Promise<void> {
  const { ancestor, last } = endsOf(advance);
  await tx.trail.beginAdvance(id, ancestor, last.hash);
}

/** The parent of a step's first block, and its last block. */
function endsOf({ change }: Advance): { ancestor: Pick<BlockRef, "number" | "hash">; last: BlockRef } {
  const [first] = change.append;
  const last = change.append.at(-1);
  if (first === undefined || last === undefined)
    throw new Error("invariant violated: scan step without blocks");
  return { ancestor: { number: first.number - 1n, hash: first.parentHash }, last };
}

function announceReorg({ events }: Pick<Tx, "events">, { name }: Chain, { trail, change }: Advance): void {
  if (change.orphanedFrom === undefined) return;
  events.alarm("reorg", {
    chain: name,
    from: change.orphanedFrom,
    depth: (trail.at(-1)?.number ?? 0n) - change.orphanedFrom + 1n,
    beyondTrail: change.kind === "detached",
  });
}

interface Slices {
  readonly facts: Slice<DepositFact>;
  readonly topUps: Slice<TopUpFact>;
}

/** The content of one commit. */
interface Part {
  readonly slice: Slices;
  readonly isLast: boolean;
  readonly deposits: FoundDeposits;
}

async function nextPart(
  tx: Tx,
  reading: ScanReading,
  advance: Advance,
  { contents, remaining }: { readonly contents: BlockContents; readonly remaining: BlockContents },
  isFirst: boolean,
): Promise<Part> {
  const slice = await nextSlice(tx, reading, advance, remaining, isFirst);
  const isLast = slice.facts.later.length + slice.topUps.later.length === 0;
  // A report may have moved a deposit back to an orphaned block after the first commit.
  const remined = isLast && !isFirst ? await findRemined(tx, reading.chain, advance, contents.facts) : [];
  return { slice, isLast, deposits: await findDeposits(tx, reading, [...remined, ...slice.facts.now]) };
}

/**
 * The contents of one commit. A reorg beyond the trail is one commit: there is no common block that the trail
 * could end with in between.
 */
async function nextSlice(
  tx: Tx,
  reading: ScanReading,
  advance: Advance,
  { facts, topUps }: BlockContents,
  isFirst: boolean,
): Promise<Slices> {
  if (advance.change.kind === "detached")
    return { facts: { now: facts, later: [] }, topUps: { now: topUps, later: [] } };
  return {
    facts: isFirst ? await firstSlice(tx, reading, advance, facts) : sliceDeposits(facts, reading.isTooSmall),
    topUps: sliceEvenly(topUps),
  };
}

/** Puts the deposits of requests first whose old block is removed with this slice. */
async function firstSlice(
  tx: Tx,
  { chain, isTooSmall }: ScanReading,
  advance: Advance,
  facts: readonly DepositFact[],
): Promise<Slice<DepositFact>> {
  const slice = sliceDeposits(facts, isTooSmall);
  if (slice.later.length === 0) return slice;
  const remined = await findRemined(tx, chain, advance, facts);
  const keys = new Set(remined.map(factKey));
  const otherFacts = facts.filter((fact) => !keys.has(factKey(fact)));
  const { now, later } = sliceDeposits(otherFacts, isTooSmall);
  return { now: [...remined, ...now], later };
}

/** The deposits of requests that are recorded in a replaced block and were mined again. */
async function findRemined(
  tx: Tx,
  chain: Chain,
  advance: Advance,
  facts: readonly DepositFact[],
): Promise<DepositFact[]> {
  const orphaned = await tx.deposits.findOrphaned(chain.id, ...replacedBlocks(advance));
  if (orphaned.length === 0) return [];
  const keys = new Set(orphaned.map(depositKey));
  return facts.filter((fact) => keys.has(factKey(fact)));
}

/** Undefined: another chain has the top-ups. */
async function findTopUpsOn(
  services: Needs,
  tx: Tx,
  advance: Advance,
  { chain, headNumber }: ScanReading,
): Promise<FoundTopUps | undefined> {
  if (chain.id !== services.appBalance.chainId) return undefined;
  return await findTopUps(services, tx, headNumber, replacedBlocks(advance));
}

/**
 * Runs once, when all contents of the blocks are stored.
 * @param foundTopUps undefined: the top-ups are still to be found
 */
async function finishAdvance(
  services: Needs,
  tx: Tx,
  reading: ScanReading,
  advance: Advance,
  foundTopUps: FoundTopUps | undefined,
): Promise<undefined> {
  const { chain } = reading;
  const { ancestor, last } = endsOf(advance);
  // Wallets are locked last, as everywhere.
  const topUps = foundTopUps ?? (await findTopUpsOn(services, tx, advance, reading));
  if (topUps !== undefined) await actOnTopUps(services, tx, topUps);
  await tx.trail.replace(chain.id, ancestor.number, advance.change.append, trailLength(chain));
  await tx.trail.setCursor(chain.id, last);
}

/** A statement compares each request with all others in the same call: larger batches would take longer. */
const CONFIRMED_AT_ONCE = 500;

async function confirm(services: Needs, tx: Tx, chainId: number, headNumber: bigint): Promise<void> {
  const due = await tx.deposits.dueConfirmed(chainId, headNumber);
  // `due` is ordered by request, so all batches lock requests in one order.
  for (let start = 0; start < due.length; start += CONFIRMED_AT_ONCE) {
    const batch = due.slice(start, start + CONFIRMED_AT_ONCE);
    const records = await tx.requests.lockAll(batch.flatMap(({ requestId }) => requestId ?? []));
    const moves = batch.flatMap(({ id, requestId }): Move[] => {
      const record = requestId === undefined ? undefined : records.get(requestId);
      return record === undefined ? [] : [{ record, event: { kind: "depositConfirmed", depositId: id } }];
    });
    await transitionAll(services, tx, moves);
  }
}

import { followTrail, rangeOf } from "@causeway/chains";
import type { BlockRef, Head, TrailChange } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";
import type { Tx } from "../ports/unit-of-work.ts";
import { creditDueTopUps, storeTopUps, takeBackTopUps } from "./app-balance/record-top-ups.ts";
import { actOnDeposits, replaceVanished, storeDeposits } from "./record-deposits.ts";
import type { Reading } from "./record-deposits.ts";
import { transition } from "./transition.ts";
import type { TransitionServices } from "./transition.ts";

type Needs = Pick<Services, "uow" | "reads" | "enginePolicy" | "signer"> & TransitionServices;

/** Another process has moved the chain's cursor: this one no longer leads, or must read the trail again. */
export class TrailMoved extends Error {
  constructor(chainName: string) {
    super(`the cursor of ${chainName} was moved by another process`);
    this.name = "TrailMoved";
  }
}

/** Blocks kept of a chain: enough to walk back any reorg this instance reckons with, twice. */
export function trailLength(chain: { readonly finalityBlocks: number }): number {
  return Math.max(chain.finalityBlocks * 2, 128);
}

/** Where a chain is first looked at: a little behind its head, for deposits made while nobody watched yet. */
const FIRST_LOOK_BACK = 64n;

/** The stored trail of a chain; at the very first start one is begun. @throws RpcFault */
export async function loadTrail(
  services: Pick<Services, "uow" | "reads">,
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
): Promise<readonly BlockRef[]> {
  const stored = await services.reads.trail(chain.id);
  if (stored.length > 0) return stored;
  const head = await connection.reader.head();
  const start = head.number > FIRST_LOOK_BACK ? head.number - FIRST_LOOK_BACK : 0n;
  const block = await connection.reader.block(start);
  if (block === undefined) return loadTrail(services, { chain, connection });
  await services.uow.run(async (tx) => {
    if ((await tx.trail.lockCursor(chain.id)) !== undefined) return;
    await tx.trail.replace(chain.id, start, [block], trailLength(chain));
    await tx.trail.setCursor(chain.id, block);
  });
  return services.reads.trail(chain.id);
}

/**
 * Reads the chain up to `head`: what came new, and what a reorg took back. Each step (a bounded range of blocks) is one commit of deposits, states, jobs and
 * cursor together, so a crash repeats or skips nothing.
 * @returns the trail, now ending with `head`.
 * @throws RpcFault when the node's answers fail or do not fit together: try again. @throws TrailMoved
 */
export async function scanChain(
  services: Needs,
  connected: Pick<ConnectedChain, "chain" | "connection">,
  trail: readonly BlockRef[],
  head: Head,
): Promise<readonly BlockRef[]> {
  const { chain, connection } = connected;
  let known = trail;
  for (;;) {
    const change = await followTrail(connection.reader, known, head, services.enginePolicy.maxScanBlocks);
    if (change.kind === "unchanged") return known;
    const [first] = change.append;
    const last = change.append.at(-1);
    if (first === undefined || last === undefined) return known;
    const isHome = chain.id === services.appBalance.chainId;
    const [facts, topUps] = await Promise.all([
      connection.reader.depositsIn(rangeOf(change.append)),
      isHome ? connection.reader.topUpsIn(services.signer.address, change.append) : [],
    ]);
    await services.uow.run(async (tx) => {
      const cursor = await tx.trail.lockCursor(chain.id);
      if (cursor?.hash !== known.at(-1)?.hash) throw new TrailMoved(chain.name);
      const reading = { chain, headNumber: last.number, seenAtMs: head.seenAtMs };
      // What was mined again has moved to its new block before the rest of what vanished is taken back, and means something only after that.
      const moved = await storeDeposits(tx, reading, facts);
      if (isHome) await storeTopUps(services, tx, topUps, head.seenAtMs);
      await takeBack(services, tx, reading, known, change);
      await actOnDeposits(services, tx, reading, moved);
      await confirm(services, tx, chain.id, last.number);
      // Wallets are locked last, here as everywhere.
      if (isHome) {
        await takeBackTopUps(services, tx, ...replacedBlocks(known, change));
        await creditDueTopUps(services, tx, last.number);
      }
      await tx.trail.replace(chain.id, first.number - 1n, change.append, trailLength(chain));
      await tx.trail.setCursor(chain.id, last);
    });
    known = [...known.filter((block) => block.number < first.number), ...change.append].slice(
      -trailLength(chain),
    );
    // Every block is scanned; only what says something is worth a line.
    if (facts.length > 0 || change.append.length > 1)
      services.events.happened("chain_scanned", {
        chain: chain.name,
        from: first.number,
        to: last.number,
        deposits: facts.length,
        tookMs: services.clock.nowMs() - head.seenAtMs,
      });
    if (last.hash === head.hash) return known;
  }
}

/** What vanished blocks said is taken back: deposits in them are not there any more (those mined again were moved to their new block before this). */
async function takeBack(
  services: Needs,
  tx: Tx,
  reading: Reading,
  known: readonly BlockRef[],
  change: Exclude<TrailChange, { kind: "unchanged" }>,
): Promise<void> {
  const { chain } = reading;
  if (change.orphanedFrom !== undefined)
    services.events.alarm("reorg", {
      chain: chain.name,
      from: change.orphanedFrom,
      depth: (known.at(-1)?.number ?? 0n) - change.orphanedFrom + 1n,
      beyondTrail: change.kind === "detached",
    });
  const gone = await tx.deposits.removeOrphaned(chain.id, ...replacedBlocks(known, change));
  for (const deposit of gone) {
    const facts = {
      chain: chain.name,
      txHash: deposit.txHash,
      depositId: deposit.id,
      requestId: deposit.requestId,
    };
    services.events.alarm("deposit_removed", facts);
    if (deposit.requestId === undefined) continue;
    const record = await tx.requests.lock(deposit.requestId);
    if (record === undefined) continue;
    // Nothing was sent for it, and it is not in the depository any more: should it return, it is judged anew.
    if (deposit.refundState === "impossible") await tx.deposits.setRefund(deposit.id, "none", undefined);
    // Once its refund is under way the money may come back twice; taking the state back would hide that.
    else if (deposit.refundState !== "none") {
      services.events.alarm("deposit_exposed", facts);
      continue;
    }
    const { decision, record: next } = await transition(
      services,
      tx,
      record,
      { kind: "depositRemoved", depositId: deposit.id },
      {
        inTxHashes: record.inTxHashes.filter((hash) => hash !== deposit.txHash),
      },
    );
    if (decision.kind === "already" && record.state.depositId === deposit.id)
      services.events.alarm("deposit_exposed", { ...facts, state: record.state.name });
    if (record.state.depositId === deposit.id) await replaceVanished(services, tx, reading, next);
  }
}

/** Above and up to which heights blocks may have been replaced, and the hashes that stand there now. */
function replacedBlocks(
  known: readonly BlockRef[],
  change: Exclude<TrailChange, { kind: "unchanged" }>,
): [aboveBlock: bigint, upToBlock: bigint, canonicalHashes: Hex[]] {
  const numbers = change.append.map((block) => block.number);
  const [first = 0n, last = first] = [numbers[0], numbers.at(-1)];
  const oldTip = known.at(-1)?.number ?? 0n;
  const upTo = change.orphanedFrom === undefined || oldTip < last ? last : oldTip;
  return [first - 1n, upTo, change.append.map((block) => block.hash)];
}

async function confirm(services: Needs, tx: Tx, chainId: number, headNumber: bigint): Promise<void> {
  for (const deposit of await tx.deposits.dueConfirmed(chainId, headNumber)) {
    if (deposit.requestId === undefined) continue;
    const record = await tx.requests.lock(deposit.requestId);
    if (record) await transition(services, tx, record, { kind: "depositConfirmed", depositId: deposit.id });
  }
}

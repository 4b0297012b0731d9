import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "./random.ts";
import type { SoakChain } from "./world.ts";

// The behavior of `anvil_reorg(depth, transactions)` in anvil 1.7.1, observed on a node with --block-time 1:
//
// - It removes the last `depth` blocks and immediately mines as many new ones, which contain only the
//   transactions given with the call. Without any they are empty; the height stays the same, and all hashes
//   from the fork on are new.
// - The dropped transactions are gone: they are in no block and not in the pool, and
//   `eth_getTransactionByHash` returns null. The same bytes can be rebroadcast immediately ("transaction
//   already imported" if they are in the pool already, "nonce too low" if they are mined again).
// - Nonces and balances roll back, also for reads at a block number; `eth_getLogs` and receipts return
//   only the new chain, and a query by the old block hash fails with "unknown block". Balances set by
//   `anvil_setBalance` roll back too if the fork is before the call, so everything is funded some blocks
//   before the first reorg.
// - Each new block is announced to `newHeads` subscribers, lowest first, so the same height is announced
//   twice.
// - Pending transactions stay in the pool, but one whose nonce is now ahead of its sender's is dropped
//   silently when the next block is mined, unless its predecessors arrive before. So later
//   transactions of the same sender must be rebroadcast as well, not only those that were in the dropped
//   blocks.
// - Block timestamps do not change, and the node's block time continues as before.

export interface ReorgOptions {
  readonly chain: SoakChain;
  readonly times: number;
  /** Spread at random over this time. */
  readonly withinMs: number;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

const WAIT_FOR_DEPOSIT_MS = 5_000;

/**
 * Replaces the newest blocks, one to three deep, preferably while they contain transactions of users.
 * @returns the depth of each reorg that was made, and how many transactions of users were dropped
 */
export async function reorganize(options: ReorgOptions): Promise<{ depths: number[]; dropped: number }> {
  const { chain, times, withinMs, random, signal, say } = options;
  const startedAtMs = Date.now();
  const moments = Array.from({ length: times }, () => random.int(2_000, withinMs)).toSorted((a, b) => a - b);
  const depths: number[] = [];
  let dropped = 0;
  for (const moment of moments) {
    await sleep(Math.max(startedAtMs + moment - Date.now(), 0), undefined, { signal }).catch(() => undefined);
    const depth = random.int(1, 3);
    const hit = await untilHit(chain, depth, signal);
    if (signal.aborted) break;
    // viem's method types do not include anvil_reorg.
    await chain.client.request({ method: "anvil_reorg" as never, params: [depth, []] as never });
    depths.push(depth);
    dropped += hit;
    say(`${chain.chain.name} reorged at depth ${depth}, ${hit} user transactions dropped`);
  }
  return { depths, dropped };
}

/** Waits briefly until the blocks to be replaced contain transactions of users. @returns how many */
async function untilHit({ client, kept }: SoakChain, depth: number, signal: AbortSignal): Promise<number> {
  const giveUpAtMs = Date.now() + WAIT_FOR_DEPOSIT_MS;
  while (!signal.aborted && Date.now() < giveUpAtMs) {
    const head = await client.getBlockNumber({ cacheTime: 0 });
    const hit = kept.all.filter(
      ({ receipt }) => receipt !== undefined && receipt.blockNumber > head - BigInt(depth),
    );
    if (hit.length > 0) return hit.length;
    await sleep(100);
  }
  return 0;
}

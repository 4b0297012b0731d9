import type { Hex } from "@causeway/domain";
import type { NonEvmArrivals } from "../non-evm-connection.ts";
import { inconsistent } from "@causeway/families";
import { bytesIn, readRawBlock, type BitcoinTransaction } from "@causeway/families/bitcoin";
import type { BitcoinReads } from "./rpc.ts";

/** The last block that was read; it was final when it was read. */
export interface BlockCursor {
  readonly height: number;
  readonly hash: string;
}

/** A block, with its transactions to a depository in order. */
export interface BlockToRead extends BlockCursor {
  /** Unix seconds. */
  readonly time: bigint;
  readonly candidates: readonly BitcoinTransaction[];
}

/** Maximum blocks per read. */
const MAX_BLOCKS = 20;
/** Number of blocks to read again without a cursor, and after a reorg of blocks that counted as final. */
const LOOKBACK_BLOCKS = 100;

export function cursorText({ height, hash }: BlockCursor): string {
  return `${height}:${hash}`;
}

/** @throws RangeError for a text that is not a cursor */
export function readCursor(text: string): BlockCursor {
  const [, height, hash] = /^(\d{1,9}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (height === undefined || hash === undefined)
    throw new RangeError("invariant violated: not a Bitcoin cursor");
  return { height: Number(height), hash };
}

/**
 * The final blocks after a cursor, oldest first, each the child of the previous one, with the transactions
 * that pay one of these scripts. If a reorg replaced the cursor's block even though it counted as final, the
 * replacing blocks are read.
 * @throws RpcFault
 */
export async function finalBlocksAfter(
  reads: BitcoinReads,
  cursor: BlockCursor | undefined,
  facts: { readonly confirmations: number; readonly scripts: ReadonlySet<string> },
): Promise<readonly BlockToRead[]> {
  const newest = await reads.newest();
  const last = newest.height - facts.confirmations + 1;
  const start = await startAfter(reads, cursor, last);
  const needles = [...facts.scripts].map((script) => Buffer.from(bytesIn(script) ?? []));
  const blocks: BlockToRead[] = [];
  let previousHash: string | undefined = start.hash;
  for (let height = start.height + 1; height <= Math.min(last, start.height + MAX_BLOCKS); height++) {
    const hash = await reads.hashAt(height);
    const bytes = Buffer.from(await reads.blockBytes(hash));
    if (previousHash !== undefined && previousOf(bytes) !== previousHash)
      throw inconsistent("getblock", "block does not follow its parent");
    previousHash = hash;
    // Most blocks contain none of our transactions, and parsing one is slow.
    const isOurs = needles.some((needle) => bytes.includes(needle));
    const block = isOurs ? readRawBlock(bytes) : undefined;
    if (isOurs && block === undefined)
      throw inconsistent("getblock", "block transactions do not match its header");
    blocks.push({
      height,
      hash,
      time: BigInt(bytes.readUInt32LE(68)),
      candidates: (block?.transactions ?? []).filter(({ outputs }) =>
        outputs.some(({ script }) => facts.scripts.has(script)),
      ),
    });
  }
  // Detects a reorg during the read: the blocks form one chain, so checking the highest is enough.
  const newestRead = blocks.at(-1);
  if (newestRead !== undefined && (await reads.hashAt(newestRead.height)) !== newestRead.hash)
    throw inconsistent("getblockhash", "the chain was reorganized during the read");
  return blocks;
}

export function upToOf({ height, hash, time }: Omit<BlockToRead, "candidates">): NonEvmArrivals["upTo"] {
  return { number: BigInt(height), hash: `0x${hash}` satisfies Hex, timestamp: time };
}

async function startAfter(
  reads: BitcoinReads,
  cursor: BlockCursor | undefined,
  last: number,
): Promise<{ readonly height: number; readonly hash: string | undefined }> {
  if (cursor === undefined) return { height: Math.max(0, last - LOOKBACK_BLOCKS), hash: undefined };
  // A node that lags has nothing new.
  if (cursor.height >= last || (await reads.hashAt(cursor.height)) === cursor.hash) return cursor;
  return { height: Math.max(0, cursor.height - LOOKBACK_BLOCKS), hash: undefined };
}

function previousOf(block: Buffer): string {
  return Buffer.from(block.subarray(4, 36)).reverse().toString("hex");
}

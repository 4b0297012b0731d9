import type { Address, Hex, TxHash } from "@causeway/domain";
import type { LocalClient } from "@causeway/testkit";
import type { Transaction } from "viem";

export interface SentTransaction {
  readonly hash: TxHash;
  readonly to: Address;
  readonly input: Hex;
  readonly value: bigint;
  readonly nonce: number;
  readonly block: bigint;
  readonly succeeded: boolean;
}

interface KnownBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly transactions: readonly Transaction<bigint, number, false>[];
}

/**
 * A reader of the mined transactions of a sender in canonical blocks from `since` on, oldest first. It reads
 * each block once, and reads again only what a reorg replaced.
 */
export function sentTransactions(
  client: LocalClient,
): (sender: Address, since?: bigint) => Promise<SentTransaction[]> {
  const blocks: KnownBlock[] = [];
  const outcomes = new Map<string, boolean>();
  let reading: Promise<void> = Promise.resolve();

  const blockAt = async (blockNumber: bigint): Promise<KnownBlock> =>
    await client.getBlock({ blockNumber, includeTransactions: true });

  async function readNewBlocks(): Promise<void> {
    const newest = await client.getBlockNumber();
    for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
      if (last.number <= newest && (await blockAt(last.number)).hash === last.hash) break;
      blocks.pop();
    }
    const from = blocks.length;
    const missing = Array.from({ length: Number(newest) + 1 - from }, (_, at) => BigInt(from + at));
    blocks.push(...(await Promise.all(missing.map(blockAt))));
  }

  async function hasSucceeded(hash: TxHash, block: Hex): Promise<boolean> {
    const key = `${block}${hash}`;
    const succeeded =
      outcomes.get(key) ?? (await client.getTransactionReceipt({ hash })).status === "success";
    outcomes.set(key, succeeded);
    return succeeded;
  }

  return async (sender, since = 0n) => {
    reading = reading.catch(() => undefined).then(readNewBlocks);
    await reading;
    const sent = blocks
      .filter(({ number }) => number >= since)
      .flatMap((block) => block.transactions)
      .filter((transaction) => transaction.from.toLowerCase() === sender);
    return await Promise.all(
      sent.map(async ({ hash, to, input, value, nonce, blockNumber, blockHash }) => ({
        hash,
        to: (to ?? "0x").toLowerCase() as Address,
        input,
        value,
        nonce,
        block: blockNumber,
        succeeded: await hasSucceeded(hash, blockHash),
      })),
    );
  };
}

import type { LocalClient } from "@causeway/testkit";
import type { Block, Hex, RpcTransactionReceipt, Transaction } from "viem";

/** A transaction of a canonical block, with its cost. */
export interface ScannedTransaction {
  readonly chainId: number;
  readonly hash: Hex;
  readonly blockNumber: bigint;
  readonly timestampSeconds: bigint;
  readonly from: Hex;
  readonly to: Hex | undefined;
  readonly nonce: number;
  readonly value: bigint;
  readonly input: Hex;
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  readonly baseFeePerGas: bigint;
  readonly feeRecipient: Hex;
  /** Every address that its logs name as a party of an ERC-20 transfer. */
  readonly transferParties: readonly Hex[];
}

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const BLOCKS_AT_ONCE = 50n;

/** Every transaction of the blocks after `afterBlock` up to `lastBlock`, in chain order. */
export async function scanChain(
  client: LocalClient,
  afterBlock: bigint,
  lastBlock: bigint,
): Promise<ScannedTransaction[]> {
  const transactions: ScannedTransaction[] = [];
  for (let from = afterBlock + 1n; from <= lastBlock; from += BLOCKS_AT_ONCE) {
    const to = from + BLOCKS_AT_ONCE - 1n < lastBlock ? from + BLOCKS_AT_ONCE - 1n : lastBlock;
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
    const blocks = await Promise.all(numbers.map(async (number) => await scanBlock(client, number)));
    transactions.push(...blocks.flat());
  }
  return transactions;
}

async function scanBlock(client: LocalClient, blockNumber: bigint): Promise<ScannedTransaction[]> {
  const [block, receipts] = await Promise.all([
    client.getBlock({ blockNumber, includeTransactions: true }),
    client.request<{ ReturnType: RpcTransactionReceipt[] | null }>({
      method: "eth_getBlockReceipts",
      params: [`0x${blockNumber.toString(16)}`] as never,
    }),
  ]);
  const byHash = new Map((receipts ?? []).map((receipt) => [receipt.transactionHash, receipt]));
  return block.transactions.map((transaction) => {
    const receipt = byHash.get(transaction.hash);
    if (receipt === undefined) throw new Error(`block ${blockNumber} has no receipt of ${transaction.hash}`);
    return describe(client.chain.id, block, transaction, receipt);
  });
}

function describe(
  chainId: number,
  block: Block<bigint, true, "latest">,
  { hash, from, to, nonce, value, input }: Transaction,
  receipt: RpcTransactionReceipt,
): ScannedTransaction {
  return {
    chainId,
    hash,
    blockNumber: block.number ?? 0n,
    timestampSeconds: block.timestamp,
    from,
    to: to ?? undefined,
    nonce,
    value,
    input,
    succeeded: receipt.status === "0x1",
    gasUsed: BigInt(receipt.gasUsed),
    effectiveGasPrice: BigInt(receipt.effectiveGasPrice),
    baseFeePerGas: block.baseFeePerGas ?? 0n,
    feeRecipient: block.miner ?? "0x",
    transferParties: receipt.logs
      .filter(({ topics }) => topics[0] === TRANSFER)
      .flatMap(({ topics }) => topics.slice(1, 3).map((topic) => `0x${topic.slice(-40)}` as const)),
  };
}

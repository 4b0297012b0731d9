import { createChainReader, createChainWriter, type RpcTransport } from "@causeway/chains";
import type { Address, Chain, Hex, TxHash } from "@causeway/domain";
import { keccakOf } from "@causeway/domain";
import type { LocalClient } from "@causeway/testkit";
import { erc20Abi, toHex, type Block } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { privateKeyOf } from "./keys.ts";
import { NATIVE, balanceKey } from "./memory-evm.ts";
import { depositsMade, nativeMovements, receiptOf, tokenMovements, transactionOf } from "./mirrored-facts.ts";
import type { ChainTransaction, MinedTransaction, SequenceBlock, SequenceChain } from "./sequence-chain.ts";

/**
 * A real node with a copy in memory of its blocks, so that the books can read them synchronously. The service
 * uses the node itself.
 */

interface MirroredBlock extends SequenceBlock {
  /** Balances after the block, by currency and holder. A missing holder has none. */
  readonly balances: ReadonlyMap<string, bigint>;
}

export interface MirroredChain extends SequenceChain {
  /** Saves the state that `reset` restores. */
  save(): Promise<void>;
  reset(): Promise<void>;
}

const DEFAULT_GAS = 3_000_000n;
const USER_FEE_CAP = 10n ** 13n;
const START_BASE_FEE = 10n ** 9n;
/** More than any block of a sequence uses. */
export const GAS_LIMIT = 300_000_000;

const refOf = ({
  number,
  hash,
  parentHash,
  timestamp,
  baseFeePerGas,
}: Block<bigint, boolean, "latest">): Omit<SequenceBlock, "transactions"> => ({
  number,
  hash,
  parentHash,
  timestamp,
  baseFeePerGas: baseFeePerGas ?? 0n,
});

/** @param client of an anvil that mines only on demand */
export async function mirroredChain(
  chain: Chain,
  client: LocalClient,
  transport: RpcTransport,
): Promise<MirroredChain> {
  const signed = new Map<TxHash, Hex>();
  const index = new Map<TxHash, MinedTransaction>();
  let blocks: MirroredBlock[] = [];
  let pool: ChainTransaction[] = [];
  let baseFeePerGas = START_BASE_FEE;
  let branches = 0;
  let saved: { readonly snapshot: Hex; readonly blocks: readonly MirroredBlock[] } | undefined;

  const tipOf = (): MirroredBlock => {
    const tip = blocks.at(-1);
    if (tip === undefined) throw new Error("invariant violated: a chain without blocks");
    return tip;
  };
  const applyBaseFee = async (): Promise<void> => await client.setNextBlockBaseFeePerGas({ baseFeePerGas });

  const minedOf = async (block: Block<bigint, true, "latest">): Promise<MinedTransaction[]> =>
    await Promise.all(
      block.transactions.map(async (read) => {
        const [receipt, frame] = await Promise.all([
          client.getTransactionReceipt({ hash: read.hash }).then(receiptOf),
          transport.request("debug_traceTransaction", [read.hash, { tracer: "callTracer" }]),
        ]);
        const succeeded = receipt.status === "success";
        return {
          transaction: transactionOf(read),
          receipt,
          movements: succeeded ? [...nativeMovements(frame), ...tokenMovements(receipt.logs)] : [],
          deposits: succeeded ? depositsMade(chain.contracts.depository, receipt.logs) : [],
          fee: receipt.gasUsed * receipt.effectiveGasPrice,
        };
      }),
    );

  const balanceAt = async (key: string): Promise<bigint> => {
    const [, currency, holder] = key.split(":") as [string, Address, Address];
    return currency === NATIVE
      ? await client.getBalance({ address: holder })
      : await client.readContract({
          abi: erc20Abi,
          address: currency,
          functionName: "balanceOf",
          args: [holder],
        });
  };

  /**
   * Applies movements and fees to the balances, and compares the results with the node's balances.
   *
   * @throws if the books miss a movement
   */
  const balancesAfter = async (
    before: ReadonlyMap<string, bigint>,
    transactions: readonly MinedTransaction[],
  ): Promise<ReadonlyMap<string, bigint>> => {
    if (transactions.length === 0) return before;
    const after = new Map(before);
    const touched = new Set<string>();
    const add = (currency: Address, holder: Address, change: bigint): void => {
      const key = balanceKey(currency, holder);
      after.set(key, (after.get(key) ?? 0n) + change);
      touched.add(key);
    };
    for (const { transaction, movements, fee } of transactions) {
      add(NATIVE, transaction.from, -fee);
      for (const { currency, from, to, amount } of movements) {
        add(currency, from, -amount);
        add(currency, to, amount);
      }
    }
    // The zero address collects fees and is where minted tokens come from.
    await Promise.all(
      [...touched]
        .filter((key) => !key.endsWith(NATIVE))
        .map(async (key) => {
          const real = await balanceAt(key);
          if (real !== after.get(key))
            throw new Error(
              `invariant violated: ${key} is ${real} on the node and ${after.get(key)} in the books`,
            );
        }),
    );
    return after;
  };

  /** Copies the newest block. */
  const mirror = async (): Promise<void> => {
    const block = await client.getBlock({ includeTransactions: true });
    const tip = blocks.at(-1);
    if (tip !== undefined && (block.number !== tip.number + 1n || block.parentHash !== tip.hash))
      throw new Error(`invariant violated: block ${block.number} does not follow ${tip.number}`);
    const transactions = await minedOf(block);
    for (const mined of transactions) index.set(mined.transaction.hash, mined);
    blocks.push({
      ...refOf(block),
      transactions,
      balances: await balancesAfter(tip?.balances ?? new Map(), transactions),
    });
  };

  const isPooled = async (hash: TxHash): Promise<boolean> =>
    (await transport.request("eth_getTransactionByHash", [hash])) !== null;

  const mine = async (timestampSeconds: number): Promise<void> => {
    const { timestamp } = tipOf();
    const requested = BigInt(timestampSeconds);
    const next = requested > timestamp ? requested : timestamp + 1n;
    await transport.request("evm_mine", [{ timestamp: Number(next), blocks: 1 }]);
    await Promise.all([mirror(), applyBaseFee()]);
    const remaining = pool.filter(({ hash }) => !index.has(hash));
    const stillPooled = await Promise.all(remaining.map(async ({ hash }) => await isPooled(hash)));
    pool = remaining.filter((_, at) => stillPooled[at] === true);
  };

  /** Copies a transaction that the node accepted into its mempool. */
  const addToPool = async (hash: TxHash): Promise<void> => {
    if (pool.some((transaction) => transaction.hash === hash)) return;
    const added = transactionOf(await client.getTransaction({ hash }));
    // The node keeps only one transaction for each sender and nonce.
    pool = [...pool.filter(({ from, nonce }) => from !== added.from || nonce !== added.nonce), added];
  };

  /** Broadcasts signed transactions again, lowest nonces first. Those that the node rejects are lost. */
  const rebroadcast = async (transactions: readonly ChainTransaction[]): Promise<void> => {
    for (const { hash } of transactions.toSorted((a, b) => a.nonce - b.nonce)) {
      const raw = signed.get(hash);
      if (raw === undefined) throw new Error(`invariant violated: ${hash} was not signed here`);
      const { kind } = await createChainWriter(transport).broadcast(raw);
      if (kind === "accepted") await addToPool(hash);
    }
  };

  const newest = await client.getBlockNumber();
  for (let number = 0n; number <= newest; number++) {
    const block = await client.getBlock({ blockNumber: number });
    // Balances are recorded only from here on, after the deployment.
    blocks.push({ ...refOf(block), transactions: [], balances: new Map() });
  }
  await applyBaseFee();

  return {
    chain,
    get blocks() {
      return blocks;
    },
    get pool() {
      return pool;
    },
    get tip() {
      return tipOf();
    },
    async setBaseFee(wei) {
      baseFeePerGas = wei;
      await applyBaseFee();
    },
    mine,
    async reorg(depth, fate, isOurs) {
      const keep = Math.max(blocks.length - depth, saved?.blocks.length ?? 0);
      const removed = blocks.slice(keep);
      if (removed.length === 0) return;
      blocks = blocks.slice(0, keep);
      const orphaned = removed.flatMap(({ transactions }) =>
        transactions.map(({ transaction }) => transaction),
      );
      for (const { hash } of orphaned) index.delete(hash);
      const returned = orphaned.filter(
        ({ from }) => fate !== "dropped" && (fate !== "droppedUsers" || isOurs(from)),
      );
      const waiting = pool;
      pool = [];
      await transport.request("anvil_rollback", [removed.length]);
      await transport.request("anvil_dropAllTransactions", []);
      // Otherwise blocks with the same contents would have the same hashes as the blocks that they replace.
      await transport.request("evm_setBlockGasLimit", [toHex(GAS_LIMIT + ++branches)]);
      await applyBaseFee();
      if (fate === "minedAgain") await rebroadcast([...returned, ...waiting]);
      const timestamps = removed.map(({ timestamp }) => Number(timestamp));
      for (const timestamp of timestamps) await mine(timestamp);
      await mine((timestamps.at(-1) ?? 0) + 1);
      if (fate !== "minedAgain") await rebroadcast([...returned, ...waiting]);
    },
    async send(from, { to, data = "0x", value = 0n }) {
      const pooled = pool.filter((transaction) => transaction.from === from).length;
      const raw = await privateKeyToAccount(privateKeyOf(from)).signTransaction({
        type: "eip1559",
        chainId: chain.id,
        nonce: (await client.getTransactionCount({ address: from })) + pooled,
        to,
        data,
        value,
        gas: DEFAULT_GAS,
        maxFeePerGas: USER_FEE_CAP,
        maxPriorityFeePerGas: 1n,
      });
      const hash = keccakOf(raw);
      signed.set(hash, raw);
      const { kind } = await createChainWriter(transport).broadcast(raw);
      if (kind === "accepted") await addToPool(hash);
      return hash;
    },
    balance: (currency, holder) => tipOf().balances.get(balanceKey(currency, holder)) ?? 0n,
    async give(currency, holder, amount) {
      const tip = tipOf();
      const key = balanceKey(currency, holder);
      const sum = (await balanceAt(key)) + amount;
      await (currency === NATIVE
        ? client.setBalance({ address: holder, value: sum })
        : transport.request("anvil_dealERC20", [holder, currency, toHex(sum)]));
      blocks = [...blocks.slice(0, -1), { ...tip, balances: new Map([...tip.balances, [key, sum]]) }];
    },
    mined: (hash) => index.get(hash),
    connect: (knownHead) => {
      const writer = createChainWriter(transport);
      return {
        reader: createChainReader(chain, transport, { knownHead }),
        writer: {
          broadcast: async (raw) => {
            const outcome = await writer.broadcast(raw);
            if (outcome.kind === "accepted") {
              const hash = keccakOf(raw);
              signed.set(hash, raw);
              await addToPool(hash);
            }
            return outcome;
          },
        },
      };
    },
    approve: async (token, owner, spender, amount) =>
      void (await transport.request("anvil_setERC20Allowance", [owner, spender, token, toHex(amount)])),
    async save() {
      const snapshot = (await transport.request("evm_snapshot", [])) as Hex;
      saved = { snapshot, blocks: [...blocks] };
    },
    async reset() {
      if (saved === undefined) throw new Error("invariant violated: reset before keep");
      await transport.request("evm_revert", [saved.snapshot]);
      await transport.request("anvil_dropAllTransactions", []);
      blocks = [...saved.blocks];
      pool = [];
      index.clear();
      signed.clear();
      baseFeePerGas = START_BASE_FEE;
      await applyBaseFee();
      const snapshot = (await transport.request("evm_snapshot", [])) as Hex;
      saved = { snapshot, blocks: saved.blocks };
    },
  };
}

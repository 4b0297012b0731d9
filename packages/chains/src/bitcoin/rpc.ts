import { inconsistent, NodeRefusal, RpcFault, type Evidence } from "@causeway/families";
import { createFactCache } from "../evm/fact-cache.ts";
import type { RpcTransport } from "../nodes/transport.ts";
import {
  bytesIn,
  fieldsOf,
  finalityOf,
  FIRST_BLOCKS,
  isCoinbase,
  isInteger,
  readBlockBytes,
  readBlockHash,
  readNodeFeeRate,
  readBlockTime,
  readBytes,
  readPlaced,
  readScannedOutputs,
  readBlockStatus,
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
  type BlockStatus,
  type PlacedTransaction,
  type ScannedOutput,
  type BitcoinFacts,
} from "@causeway/families/bitcoin";

/** A transaction in a block of the chain, usually one with enough confirmations. */
export interface FinalTransaction {
  readonly transaction: BitcoinTransaction;
  readonly block: BitcoinBlock;
}

export interface BitcoinBlock {
  readonly height: number;
  readonly hash: string;
  /** Unix seconds in the block's header. */
  readonly time: bigint;
}

export interface FoundTransaction {
  readonly transaction: BitcoinTransaction;
  readonly block: (BitcoinBlock & Pick<BlockStatus, "confirmations">) | undefined;
}

/** Maximum previous transactions that are read concurrently. */
const MAX_CONCURRENT_SOURCES = 16;
/**
 * Maximum number and bytes of cached spent outputs: enough for several of the largest standard transactions.
 */
const MAX_CACHED_OUTPUTS = { entries: 8_000, bytes: 4 * 1024 * 1024 };
const SCAN_DEADLINE_MS = 10 * 60_000;
/** Short, because nodes have the estimate in memory, and a silent node must not delay payments. */
const FEE_RATE_DEADLINE_MS = 2_000;

/** Reads of one node. */
export interface BitcoinReads {
  /** A transaction with enough confirmations. @throws RpcFault */
  transaction(txid: string): Promise<Evidence<FinalTransaction>>;
  /**
   * A transaction in the mempool or in a block. It has no block while it is pending or orphaned; undefined if
   * the node does not know it.
   *
   * @throws RpcFault
   */
  find(txid: string): Promise<FoundTransaction | undefined>;
  /**
   * The outputs that inputs spend, in order, from the bytes of the previous transactions; undefined if the
   * node lacks one.
   *
   * @throws RpcFault
   */
  spentBy(inputs: readonly BitcoinInput[]): Promise<readonly BitcoinOutput[] | undefined>;
  /** A transaction's bytes; undefined if the node does not have it. @throws RpcFault */
  bytes(txid: string): Promise<Uint8Array | undefined>;
  /**
   * Whether an output is unspent in the chain and, unless excluded, in the mempool.
   *
   * @throws RpcFault
   */
  isUnspent(utxo: Pick<BitcoinInput, "txid" | "vout">, includeMempool: boolean): Promise<boolean>;
  /** Confirmations of an unspent output; 0 if it is unconfirmed, spent or unknown. @throws RpcFault */
  confirmationsOf(utxo: Pick<BitcoinInput, "txid" | "vout">, includeMempool: boolean): Promise<number>;
  /**
   * The unspent confirmed outputs of these scripts. Takes a minute on mainnet, and a node runs one scan at a
   * time. @throws RpcFault, NodeRefusal
   */
  scan(scripts: readonly string[]): Promise<readonly ScannedOutput[]>;
  /** Satoshis per 1000 virtual bytes; undefined if the node has no estimate. @throws RpcFault */
  feeRate(withinBlocks: number): Promise<bigint | undefined>;
  /** Height and hash of the newest block. @throws RpcFault */
  newest(): Promise<{ readonly height: number; readonly hash: string }>;
  /** @throws RpcFault, including for a height above the newest block */
  hashAt(height: number): Promise<string>;
  /** Bytes of a block, whose header is checked against `hash`. @throws RpcFault */
  blockBytes(hash: string): Promise<Uint8Array>;
  /** Height and confirmations of a block; undefined if the node does not have it. @throws RpcFault */
  block(hash: string): Promise<(BitcoinBlock & BlockStatus) | undefined>;
}

/**
 * Reads final facts from one node, which must have an index of all transactions.
 *
 * Transactions and headers are read from their bytes, whose hashes are their ids, so a node cannot lie about
 * them. Whether a block is in the chain, and its confirmations, are the node's claim. The hash at the block's
 * height is therefore read again after everything else, so that the answers of two nodes behind one address
 * must be consistent.
 */
export function createBitcoinReads(transport: RpcTransport, facts: BitcoinFacts): BitcoinReads {
  let isChainVerified = false;
  // Outputs are identified by transaction hash and never change. The cache lets an interrupted read resume.
  const cachedOutputs = createFactCache<BitcoinOutput>({
    ...MAX_CACHED_OUTPUTS,
    sizeOf: ({ script }) => script.length + 256,
  });

  const checkChain = async (): Promise<void> => {
    if (isChainVerified) return;
    const first = readBlockHash(await transport.request("getblockhash", [0]));
    if (first !== FIRST_BLOCKS[facts.network])
      throw new RpcFault({
        kind: "wrongChain",
        method: "getblockhash",
        reason: `the node does not serve Bitcoin ${facts.network}`,
      });
    isChainVerified = true;
  };

  const readTransaction = async (txid: string): Promise<PlacedTransaction | undefined> => {
    try {
      return readPlaced(await transport.request("getrawtransaction", [txid, true]), txid);
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
  };

  const blockOf = async (hash: string): Promise<BitcoinBlock & BlockStatus> => {
    const [status, time] = await Promise.all([
      transport.request("getblockheader", [hash, true]).then((answer) => readBlockStatus(answer, hash)),
      transport.request("getblockheader", [hash, false]).then((answer) => readBlockTime(answer, hash)),
    ]);
    return { ...status, hash, time };
  };

  /** Call this after all other reads, so that the answers cannot come from two nodes on different forks. */
  const confirmAtHeight = async ({ height, hash }: BitcoinBlock): Promise<void> => {
    if (readBlockHash(await transport.request("getblockhash", [height])) !== hash)
      throw inconsistent("getblockhash", "transaction's block is not the block at its height");
  };

  /** A transaction's bytes as the node's unchecked answer; undefined if the node does not have it. */
  const rawOf = async (txid: string): Promise<unknown> => {
    try {
      return await transport.request("getrawtransaction", [txid, false]);
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
  };

  const readFromBytes = async (txid: string): Promise<BitcoinTransaction | undefined> => {
    const hex = await rawOf(txid);
    return hex === undefined ? undefined : readBytes(hex, txid);
  };

  const confirmationsOf: BitcoinReads["confirmationsOf"] = async ({ txid, vout }, includeMempool) => {
    const answer = await transport.request("gettxout", [txid, vout, includeMempool]);
    if (answer === null) return 0;
    const { confirmations } = fieldsOf("gettxout", answer);
    return isInteger(confirmations) ? confirmations : 0;
  };

  return {
    transaction: async (txid) => {
      await checkChain();
      const found = await readTransaction(txid);
      if (found === undefined) return { kind: "absent" };
      const { transaction, blockHash } = found;
      if (blockHash === undefined)
        return {
          kind: "notFinal",
          reason: "transaction is not mined yet",
          retryAfterSeconds: Math.max(1, Math.ceil(facts.confirmations * facts.blockTimeSeconds)),
        };
      const { confirmations, ...block } = await blockOf(blockHash);
      const finality = finalityOf(confirmations, facts);
      if (finality.kind === "notFinal") return finality;
      await confirmAtHeight(block);
      return { kind: "final", value: { transaction, block } };
    },
    find: async (txid) => {
      await checkChain();
      const found = await readTransaction(txid);
      if (found === undefined) return undefined;
      const { transaction, blockHash } = found;
      const block = blockHash === undefined ? undefined : await blockOf(blockHash);
      if (block === undefined || block.confirmations < 1) return { transaction, block: undefined };
      await confirmAtHeight(block);
      return { transaction, block };
    },
    spentBy: async (inputs) => {
      if (isCoinbase({ inputs })) return [];
      await checkChain();
      const spent = new Map<BitcoinInput, BitcoinOutput>();
      for (const input of inputs) {
        const cached = cachedOutputs.get(outpointKey(input));
        if (cached !== undefined) spent.set(input, cached);
      }
      const uncached = inputs.filter((input) => !spent.has(input));
      const sources = [...Map.groupBy(uncached, ({ txid }) => txid)];
      // The sender controls the number and size of the previous transactions, so only the spent outputs are
      // kept.
      for (let start = 0; start < sources.length; start += MAX_CONCURRENT_SOURCES)
        await Promise.all(
          sources.slice(start, start + MAX_CONCURRENT_SOURCES).map(async ([txid, spendingInputs]) => {
            const previousOutputs = (await readFromBytes(txid))?.outputs ?? [];
            for (const input of spendingInputs) {
              const output = previousOutputs[input.vout];
              if (output === undefined) continue;
              spent.set(input, output);
              cachedOutputs.set(outpointKey(input), output);
            }
          }),
        );
      const spentOutputs = inputs.map((input) => spent.get(input)).filter((output) => output !== undefined);
      return spentOutputs.length === inputs.length ? spentOutputs : undefined;
    },
    bytes: async (txid) => {
      await checkChain();
      const hex = await rawOf(txid);
      if (typeof hex !== "string") return undefined;
      readBytes(hex, txid);
      return bytesIn(hex);
    },
    isUnspent: async (utxo, includeMempool) => (await confirmationsOf(utxo, includeMempool)) > 0,
    confirmationsOf,
    scan: async (scripts) => {
      await checkChain();
      const params = ["start", scripts.map((script) => `raw(${script})`)];
      return readScannedOutputs(
        await transport.request("scantxoutset", params, { deadlineMs: SCAN_DEADLINE_MS }),
      );
    },
    feeRate: async (withinBlocks) => {
      try {
        return readNodeFeeRate(
          await transport.request("estimatesmartfee", [withinBlocks], { deadlineMs: FEE_RATE_DEADLINE_MS }),
        );
      } catch (error) {
        // A provider may not serve this method.
        if (error instanceof NodeRefusal && !error.isPause) return undefined;
        throw error;
      }
    },
    newest: async () => {
      await checkChain();
      const hash = readBlockHash(await transport.request("getbestblockhash", []));
      const { height } = readBlockStatus(await transport.request("getblockheader", [hash, true]), hash);
      return { height, hash };
    },
    hashAt: async (height) => readBlockHash(await transport.request("getblockhash", [height])),
    blockBytes: async (hash) => readBlockBytes(await transport.request("getblock", [hash, 0]), hash),
    block: async (hash) => {
      try {
        return await blockOf(hash);
      } catch (error) {
        if (isUnknown(error)) return undefined;
        throw error;
      }
    },
  };
}

/**
 * The outputs that a final transaction spends.
 * @throws RpcFault if one is missing, because a node that has the transaction must have its sources too
 */
export async function requireSpent(
  reads: Pick<BitcoinReads, "spentBy">,
  { transaction }: FinalTransaction,
): Promise<readonly BitcoinOutput[]> {
  const spent = await reads.spentBy(transaction.inputs);
  if (spent === undefined)
    throw inconsistent("getrawtransaction", "the node has a transaction but not the outputs it spends");
  return spent;
}

/** Bitcoin Core's code for "no such transaction". Without a complete index, the same code proves nothing. */
function isUnknown(error: unknown): boolean {
  return (
    error instanceof NodeRefusal && error.nodeCode === -5 && !/txindex|being indexed/i.test(error.nodeText)
  );
}

function outpointKey({ txid, vout }: Pick<BitcoinInput, "txid" | "vout">): string {
  return `${txid}:${vout}`;
}

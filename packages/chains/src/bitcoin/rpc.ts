import { inconsistent, NodeRefusal, RpcFault, type Evidence } from "@causeway/families";
import { rememberedFacts } from "../evm/remembered-facts.ts";
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
  readBlockTime,
  readBytes,
  readPlaced,
  readScannedOutputs,
  readStanding,
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
  type BlockStanding,
  type PlacedTransaction,
  type ScannedOutput,
  type BitcoinFacts,
} from "@causeway/families/bitcoin";

/** A transaction in a block of the chain. */
export interface FinalTransaction {
  readonly transaction: BitcoinTransaction;
  readonly block: BitcoinBlock;
}

export interface BitcoinBlock {
  readonly height: number;
  readonly hash: string;
  /** Unix seconds, by the block's own header. */
  readonly time: bigint;
}

export interface FoundTransaction {
  readonly transaction: BitcoinTransaction;
  readonly block: (BitcoinBlock & Pick<BlockStanding, "confirmations">) | undefined;
}

/** Transactions before one that are read at the same time. */
const SOURCES_AT_ONCE = 16;
/** Spent outputs that are remembered, and bytes of them: several of the largest standard transactions. */
const REMEMBERED_OUTPUTS = { entries: 8_000, bytes: 4 * 1024 * 1024 };
const SCAN_DEADLINE_MS = 10 * 60_000;

/** Reads of one node. */
export interface BitcoinReads {
  /** A transaction, once enough blocks say so. @throws RpcFault */
  transaction(txid: string): Promise<Evidence<FinalTransaction>>;
  /**
   * A transaction in the mempool or in a block. It has no block while it is pending or orphaned; undefined
   * when the node does not know it.
   *
   * @throws RpcFault
   */
  anywhere(txid: string): Promise<FoundTransaction | undefined>;
  /**
   * What inputs spend, in their order, by the bytes of the transactions before; undefined when the node lacks
   * one.
   *
   * @throws RpcFault
   */
  spentBy(inputs: readonly BitcoinInput[]): Promise<readonly BitcoinOutput[] | undefined>;
  /** A transaction's own bytes; undefined when the node knows none. @throws RpcFault */
  bytes(txid: string): Promise<Uint8Array | undefined>;
  /**
   * Whether an output of the chain is unspent there, and by what waits too unless that is left out.
   *
   * @throws RpcFault
   */
  isUnspent(utxo: Pick<BitcoinInput, "txid" | "vout">, withWaiting: boolean): Promise<boolean>;
  /** Confirmations of such an output; 0 for any other. @throws RpcFault */
  confirmationsOf(utxo: Pick<BitcoinInput, "txid" | "vout">, withWaiting: boolean): Promise<number>;
  /**
   * The outputs of these scripts that no block spends. Takes a minute on mainnet, and a node runs one scan at
   * a time. @throws RpcFault, NodeRefusal
   */
  scan(scripts: readonly string[]): Promise<readonly ScannedOutput[]>;
  /** Height and hash of the newest block. @throws RpcFault */
  newest(): Promise<{ readonly height: number; readonly hash: string }>;
  /** @throws RpcFault, also above the newest block */
  hashAt(height: number): Promise<string>;
  /** Bytes of a block, whose header's hash is the block's. @throws RpcFault */
  blockBytes(hash: string): Promise<Uint8Array>;
  /** Where a block stands; undefined when the node knows none. @throws RpcFault */
  block(hash: string): Promise<(BitcoinBlock & BlockStanding) | undefined>;
}

/**
 * Reads what is final at one node, which must have an index of all transactions.
 *
 * Transactions and headers are read from their bytes, whose hashes are their names: about these a node cannot
 * lie. That a block is in the chain, and how deep, is the node's word; it is asked for the block's hash at
 * its height once more after everything else, so that what two nodes behind one address say must fit
 * together.
 */
export function createBitcoinReads(transport: RpcTransport, facts: BitcoinFacts): BitcoinReads {
  let isRightChain = false;
  // By the hash of their transaction they can never change. A question that ended before all were read goes
  // on where it stopped when it is asked again.
  const outputs = rememberedFacts<BitcoinOutput>({
    ...REMEMBERED_OUTPUTS,
    sizeOf: ({ script }) => script.length + 256,
  });

  const checkChain = async (): Promise<void> => {
    if (isRightChain) return;
    const first = readBlockHash(await transport.request("getblockhash", [0]));
    if (first !== FIRST_BLOCKS[facts.network])
      throw new RpcFault({
        kind: "wrongChain",
        method: "getblockhash",
        reason: `the node does not serve Bitcoin ${facts.network}`,
      });
    isRightChain = true;
  };

  const placed = async (txid: string): Promise<PlacedTransaction | undefined> => {
    try {
      return readPlaced(await transport.request("getrawtransaction", [txid, true]), txid);
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
  };

  const blockOf = async (hash: string): Promise<BitcoinBlock & BlockStanding> => {
    const [standing, time] = await Promise.all([
      transport.request("getblockheader", [hash, true]).then((answer) => readStanding(answer, hash)),
      transport.request("getblockheader", [hash, false]).then((answer) => readBlockTime(answer, hash)),
    ]);
    return { ...standing, hash, time };
  };

  /** After everything else, so that what is behind the address cannot have been two nodes on two forks. */
  const confirmAtHeight = async ({ height, hash }: BitcoinBlock): Promise<void> => {
    if (readBlockHash(await transport.request("getblockhash", [height])) !== hash)
      throw inconsistent("getblockhash", "transaction's block is not the block at its height");
  };

  /** Undefined: it knows none. */
  const rawOf = async (txid: string): Promise<unknown> => {
    try {
      return await transport.request("getrawtransaction", [txid, false]);
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
  };

  const bytesOf = async (txid: string): Promise<BitcoinTransaction | undefined> => {
    const hex = await rawOf(txid);
    return hex === undefined ? undefined : readBytes(hex, txid);
  };

  const confirmationsOf: BitcoinReads["confirmationsOf"] = async ({ txid, vout }, withWaiting) => {
    const answer = await transport.request("gettxout", [txid, vout, withWaiting]);
    if (answer === null) return 0;
    const { confirmations } = fieldsOf("gettxout", answer);
    return isInteger(confirmations) ? confirmations : 0;
  };

  return {
    transaction: async (txid) => {
      await checkChain();
      const found = await placed(txid);
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
    anywhere: async (txid) => {
      await checkChain();
      const found = await placed(txid);
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
        const known = outputs.get(placeOf(input));
        if (known !== undefined) spent.set(input, known);
      }
      const unknown = inputs.filter((input) => !spent.has(input));
      const sources = [...Map.groupBy(unknown, ({ txid }) => txid)];
      // Who made the inputs chose how many and how large the transactions before are: of each only what is
      // spent is kept.
      for (let at = 0; at < sources.length; at += SOURCES_AT_ONCE)
        await Promise.all(
          sources.slice(at, at + SOURCES_AT_ONCE).map(async ([txid, own]) => {
            const made = (await bytesOf(txid))?.outputs ?? [];
            for (const input of own) {
              const output = made[input.vout];
              if (output === undefined) continue;
              spent.set(input, output);
              outputs.set(placeOf(input), output);
            }
          }),
        );
      const found = inputs.map((input) => spent.get(input)).filter((output) => output !== undefined);
      return found.length === inputs.length ? found : undefined;
    },
    bytes: async (txid) => {
      await checkChain();
      const hex = await rawOf(txid);
      if (typeof hex !== "string") return undefined;
      readBytes(hex, txid);
      return bytesIn(hex);
    },
    isUnspent: async (utxo, withWaiting) => (await confirmationsOf(utxo, withWaiting)) > 0,
    confirmationsOf,
    scan: async (scripts) => {
      await checkChain();
      const params = ["start", scripts.map((script) => `raw(${script})`)];
      return readScannedOutputs(
        await transport.request("scantxoutset", params, { deadlineMs: SCAN_DEADLINE_MS }),
      );
    },
    newest: async () => {
      await checkChain();
      const hash = readBlockHash(await transport.request("getbestblockhash", []));
      const { height } = readStanding(await transport.request("getblockheader", [hash, true]), hash);
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

/** What a final transaction spends. @throws RpcFault: a node that has the one has the other */
export async function requireSpent(
  reads: Pick<BitcoinReads, "spentBy">,
  { transaction }: FinalTransaction,
): Promise<readonly BitcoinOutput[]> {
  const spent = await reads.spentBy(transaction.inputs);
  if (spent === undefined)
    throw inconsistent("getrawtransaction", "the node has a transaction but not the outputs it spends");
  return spent;
}

/**
 * Bitcoin Core's code for "no such transaction"; the same code without an index, or before that is complete,
 * says nothing.
 */
function isUnknown(error: unknown): boolean {
  return (
    error instanceof NodeRefusal && error.nodeCode === -5 && !/txindex|being indexed/i.test(error.nodeText)
  );
}

function placeOf({ txid, vout }: Pick<BitcoinInput, "txid" | "vout">): string {
  return `${txid}:${vout}`;
}

import type { BitcoinAttestationFacts } from "@causeway/domain";
import type { Evidence } from "../evidence.ts";
import { inconsistent, NodeRefusal, RpcFault } from "../nodes/rpc-fault.ts";
import type { RpcTransport } from "../nodes/transport.ts";
import {
  readBlockHash,
  readBlockTime,
  readBytes,
  readPlaced,
  readStanding,
  type PlacedTransaction,
} from "./answers.ts";
import { FIRST_BLOCKS, finalityOf } from "./finality.ts";
import {
  isCoinbase,
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
} from "./raw-transaction.ts";

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

/** Reads of one node. */
export interface BitcoinReads {
  /** A transaction, once enough blocks say so. @throws RpcFault */
  transaction(txid: string): Promise<Evidence<FinalTransaction>>;
  /** A transaction wherever it is; undefined when the node knows none. @throws RpcFault */
  anywhere(txid: string): Promise<PlacedTransaction | undefined>;
  /** What inputs spend, in their order, by the bytes of the transactions before; undefined when the node lacks one. @throws RpcFault */
  spentBy(inputs: readonly BitcoinInput[]): Promise<readonly BitcoinOutput[] | undefined>;
}

/**
 * Reads what is final at one node, which must have an index of all transactions.
 *
 * Transactions and headers are read from their bytes, whose hashes are their names: about these a node cannot lie. That a block is in the chain, and how deep, is the node's
 * word; it is asked for the block's hash at its height once more after everything else, so that what two nodes behind one address say must fit together.
 */
export function createBitcoinReads(transport: RpcTransport, facts: BitcoinAttestationFacts): BitcoinReads {
  let isRightChain = false;

  const checkChain = async (): Promise<void> => {
    if (isRightChain) return;
    const first = readBlockHash(await transport.request("getblockhash", [0]));
    if (first !== FIRST_BLOCKS[facts.network])
      throw new RpcFault({
        kind: "wrongChain",
        method: "getblockhash",
        reason: `the node does not serve the ${facts.network} network of Bitcoin`,
      });
    isRightChain = true;
  };

  const anywhere = async (txid: string): Promise<PlacedTransaction | undefined> => {
    try {
      return readPlaced(await transport.request("getrawtransaction", [txid, true]), txid);
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
  };

  const bytesOf = async (txid: string): Promise<BitcoinTransaction | undefined> => {
    try {
      return readBytes(await transport.request("getrawtransaction", [txid, false]), txid);
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
  };

  return {
    transaction: async (txid) => {
      await checkChain();
      const found = await anywhere(txid);
      if (found === undefined) return { kind: "absent" };
      const { transaction, blockHash } = found;
      if (blockHash === undefined)
        return {
          kind: "notFinal",
          reason: "the transaction is in no block yet",
          retryAfterSeconds: Math.max(1, Math.ceil(facts.confirmations * facts.blockTimeSeconds)),
        };
      const [standing, time] = await Promise.all([
        transport
          .request("getblockheader", [blockHash, true])
          .then((answer) => readStanding(answer, blockHash)),
        transport
          .request("getblockheader", [blockHash, false])
          .then((answer) => readBlockTime(answer, blockHash)),
      ]);
      const finality = finalityOf(standing.confirmations, facts);
      if (finality.kind === "notFinal") return finality;
      const canonical = readBlockHash(await transport.request("getblockhash", [standing.height]));
      if (canonical !== blockHash)
        throw inconsistent("getblockhash", "the transaction's block is not the one at its height");
      return {
        kind: "final",
        value: { transaction, block: { height: standing.height, hash: blockHash, time } },
      };
    },
    anywhere: async (txid) => {
      await checkChain();
      return await anywhere(txid);
    },
    spentBy: async (inputs) => {
      if (isCoinbase({ inputs })) return [];
      await checkChain();
      const ids = [...new Set(inputs.map(({ txid }) => txid))];
      const sources = new Map(
        await Promise.all(ids.map(async (txid) => [txid, await bytesOf(txid)] as const)),
      );
      const spent: BitcoinOutput[] = [];
      for (const { txid, vout } of inputs) {
        const output = sources.get(txid)?.outputs[vout];
        if (output === undefined) return undefined;
        spent.push(output);
      }
      return spent;
    },
  };
}

/** Bitcoin Core's code for "no such transaction"; the same code without an index, or before that is complete, says nothing. */
function isUnknown(error: unknown): boolean {
  return (
    error instanceof NodeRefusal && error.nodeCode === -5 && !/txindex|being indexed/i.test(error.nodeText)
  );
}

import type { BitcoinNetwork } from "@causeway/domain";
import { decodeBitcoinAddress, inconsistent, RpcFault } from "@causeway/families";
import type { UnspentOutput } from "./output-selection.ts";
import type { Explorer } from "./explorer.ts";
import { addressBytesOfScript, readRawTransaction } from "@causeway/families/bitcoin";
import { outpointKey } from "./replacement.ts";
import type { BitcoinReads } from "./rpc.ts";

/** Unspent outputs of one script. */
export interface Wallet {
  /** Confirmed outputs that no confirmed or pending transaction spends. @throws RpcFault */
  spendable(): Promise<readonly UnspentOutput[]>;
  /** An output in a block that no block spends, whatever is in the mempool. @throws RpcFault if it is not */
  unspentInChain(utxo: Pick<UnspentOutput, "txid" | "vout">): Promise<UnspentOutput>;
}

/**
 * Maximum outputs considered, the largest first: anyone can send dust to the solver, and each output costs
 * two requests to the node.
 */
const MAX_OUTPUTS = 200;

/**
 * The explorer lists outputs. Their amounts are read from the bytes of their transactions, and the node
 * decides whether they are unspent. Explorers refuse to list an address with more than a few hundred
 * outputs, and anyone can send that many to an address. Then the outputs of the last list remain in use.
 *
 * Pending outputs are excluded, even our own change: if the transaction that created such an output is
 * replaced, any transaction that spends the output becomes invalid.
 * @param onUnlisted called with the reason why the explorer listed nothing
 */
export function createWallet(
  script: string,
  network: BitcoinNetwork,
  {
    reads,
    explorer,
    onUnlisted,
  }: {
    readonly reads: Pick<BitcoinReads, "bytes" | "isUnspent">;
    readonly explorer: Pick<Explorer, "outputsOf">;
    onUnlisted(error: RpcFault): void;
  },
): Wallet {
  const bytes = addressBytesOfScript(script);
  const address = bytes === undefined ? undefined : decodeBitcoinAddress(network, bytes);
  if (address === undefined) throw new RangeError("invariant violated: wallet script has no address");
  let cachedOutputs = new Map<string, UnspentOutput>();

  const read = async (txid: string, vout: number): Promise<UnspentOutput | undefined> => {
    const cached = cachedOutputs.get(outpointKey({ txid, vout }));
    if (cached !== undefined) return cached;
    const raw = await reads.bytes(txid);
    const output = raw === undefined ? undefined : readRawTransaction(raw)?.outputs[vout];
    return output?.script === script ? { txid, vout, ...output } : undefined;
  };

  const list = async (): Promise<readonly Pick<UnspentOutput, "txid" | "vout" | "amount">[]> => {
    try {
      return (await explorer.outputsOf(address)).filter(({ isConfirmed }) => isConfirmed);
    } catch (error) {
      if (!(error instanceof RpcFault) || cachedOutputs.size === 0) throw error;
      onUnlisted(error);
      return [...cachedOutputs.values()];
    }
  };

  return {
    spendable: async () => {
      const listed = (await list()).toSorted(largestFirst).slice(0, MAX_OUTPUTS);
      const utxos = await Promise.all(
        listed.map(async (candidate) => {
          const [utxo, isUnspent] = await Promise.all([
            read(candidate.txid, candidate.vout),
            reads.isUnspent(candidate, true),
          ]);
          return isUnspent ? utxo : undefined;
        }),
      );
      const unspent = utxos.filter((utxo) => utxo !== undefined);
      // A transaction's bytes never change, so they are fetched once while its output is listed.
      cachedOutputs = new Map(unspent.map((utxo) => [outpointKey(utxo), utxo]));
      return unspent;
    },
    unspentInChain: async ({ txid, vout }) => {
      const utxo = await read(txid, vout);
      if (utxo === undefined || !(await reads.isUnspent(utxo, false)))
        throw inconsistent(
          "gettxout",
          "another transaction has spent outputs that an earlier attempt spends",
        );
      return utxo;
    },
  };
}

function largestFirst(a: Pick<UnspentOutput, "amount">, b: Pick<UnspentOutput, "amount">): number {
  return a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1;
}

import type { Hex } from "@causeway/domain";
import {
  bytesIn,
  readRawTransaction,
  type BitcoinTransaction,
  type BitcoinFacts,
} from "@causeway/families/bitcoin";
import type { UnsettledSweep } from "../non-evm-connection.ts";
import type { AddressListing } from "./address-listing.ts";
import { outpointKey } from "./replacement.ts";
import type { BitcoinReads } from "./rpc.ts";

/**
 * Maximum outputs of one address that count and that one sweep spends, the largest first: anyone can send
 * dust to an address, and each input costs a fee.
 */
export const MAX_OUTPUTS = 20;
/** Maximum cached outputs. */
const MAX_CACHED_OUTPUTS = 10_000;

/** A spendable output. */
export interface UnspentOutput {
  readonly txid: string;
  readonly vout: number;
  /** Satoshis. */
  readonly amount: bigint;
  readonly script: string;
}

type Outpoint = Pick<UnspentOutput, "txid" | "vout">;

/** Unspent outputs of deposit addresses. A listing provides candidates; the node decides. */
export interface AddressOutputs {
  /**
   * Confirmed satoshis of an address, including those that a pending sweep spends. Undefined if the node
   * and the caller disagree on which sweeps were mined.
   * @throws RpcFault
   */
  balance(script: string, sweeps: readonly UnsettledSweep[]): Promise<bigint | undefined>;
  /** Final outputs of an address that no confirmed or pending transaction spends. @throws RpcFault */
  spendable(script: string): Promise<readonly UnspentOutput[]>;
  /** An output in the chain that no block spends; undefined if there is none. @throws RpcFault */
  unspentInChain(script: string, outpoint: Outpoint): Promise<UnspentOutput | undefined>;
}

export function createAddressOutputs(
  { confirmations }: Pick<BitcoinFacts, "confirmations">,
  reads: Pick<BitcoinReads, "find" | "bytes" | "confirmationsOf">,
  listing: AddressListing,
): AddressOutputs {
  const cachedOutputs = new Map<string, UnspentOutput>();

  /** Reads an output, cached: the bytes of a transaction never change. */
  const read = async (script: string, { txid, vout }: Outpoint): Promise<UnspentOutput | undefined> => {
    const key = outpointKey({ txid, vout });
    const cached = cachedOutputs.get(key);
    if (cached !== undefined) return cached.script === script ? cached : undefined;
    const raw = await reads.bytes(txid);
    const output = raw === undefined ? undefined : readRawTransaction(raw)?.outputs[vout];
    if (output === undefined) return undefined;
    if (cachedOutputs.size >= MAX_CACHED_OUTPUTS) cachedOutputs.clear();
    cachedOutputs.set(key, { txid, vout, ...output });
    return output.script === script ? { txid, vout, ...output } : undefined;
  };

  const takeLargest = (outputs: readonly (UnspentOutput | undefined)[]): readonly UnspentOutput[] =>
    outputs
      .filter((output) => output !== undefined)
      .toSorted((a, b) => compare(b.amount, a.amount) || (outpointKey(a) < outpointKey(b) ? -1 : 1))
      .slice(0, MAX_OUTPUTS);

  return {
    balance: async (script, sweeps) => {
      const candidates = new Map<string, Outpoint>(
        (await listing.outputsOf(script)).map((outpoint) => [outpointKey(outpoint), outpoint]),
      );
      for (const { raws, minedTxId } of sweeps)
        for (const raw of raws) {
          const { txid, inputs, outputs } = transactionOf(raw);
          const isMined = (await reads.find(txid))?.block !== undefined;
          if (isMined !== (minedTxId === `0x${txid}`)) return undefined;
          const affected = isMined
            ? outputs.flatMap((output, vout) => (output.script === script ? [{ txid, vout }] : []))
            : inputs;
          for (const outpoint of affected) candidates.set(outpointKey(outpoint), outpoint);
        }
      const confirmed = await Promise.all(
        [...candidates.values()].map(async (outpoint) => {
          const output = await read(script, outpoint);
          if (output === undefined) return undefined;
          return (await reads.confirmationsOf(outpoint, false)) > 0 ? output : undefined;
        }),
      );
      return takeLargest(confirmed).reduce((sum, { amount }) => sum + amount, 0n);
    },
    spendable: async (script) =>
      takeLargest(
        await Promise.all(
          (await listing.outputsOf(script)).map(async (outpoint) => {
            const output = await read(script, outpoint);
            return output !== undefined && (await reads.confirmationsOf(outpoint, true)) >= confirmations
              ? output
              : undefined;
          }),
        ),
      ),
    unspentInChain: async (script, outpoint) => {
      const output = await read(script, outpoint);
      return output !== undefined && (await reads.confirmationsOf(outpoint, false)) > 0 ? output : undefined;
    },
  };
}

/**
 * The outputs that a sweep spends: the output that equals the amount, or the largest outputs until they cover
 * it. Undefined if all outputs together do not cover the amount. Pure.
 */
export function selectForSweep(
  outputs: readonly UnspentOutput[],
  amount: bigint,
): readonly UnspentOutput[] | undefined {
  const exact = outputs.find((output) => output.amount === amount);
  if (exact !== undefined) return [exact];
  const selected: UnspentOutput[] = [];
  let sum = 0n;
  for (const output of outputs.toSorted((a, b) => compare(b.amount, a.amount))) {
    selected.push(output);
    sum += output.amount;
    if (sum >= amount) return selected;
  }
  return undefined;
}

/** @throws RangeError if the bytes are not a transaction */
export function transactionOf(raw: Hex): BitcoinTransaction {
  const transaction = readRawTransaction(bytesIn(raw.slice(2)) ?? new Uint8Array());
  if (transaction === undefined) throw new RangeError("invariant violated: attempt is not a transaction");
  return transaction;
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

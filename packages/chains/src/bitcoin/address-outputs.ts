import type { Hex } from "@causeway/domain";
import {
  bytesIn,
  readRawTransaction,
  type BitcoinTransaction,
  type BitcoinFacts,
} from "@causeway/families/bitcoin";
import type { SweepUnderWay } from "../non-evm-connection.ts";
import type { AddressListing } from "./address-listing.ts";
import { keyOf } from "./replacement.ts";
import type { BitcoinReads } from "./rpc.ts";

/**
 * Maximum outputs of one address that count and that one sweep spends, the largest first: anyone can send
 * dust to an address, and each input costs a fee.
 */
export const MAX_OUTPUTS = 20;
/** Maximum outputs whose bytes are cached. */
const MAX_REMEMBERED = 10_000;

/** A spendable output. */
export interface UnspentOutput {
  readonly txid: string;
  readonly vout: number;
  /** Satoshis. */
  readonly amount: bigint;
  readonly script: string;
}

type Place = Pick<UnspentOutput, "txid" | "vout">;

/** Unspent outputs of deposit addresses. A listing provides candidates; the node decides. */
export interface AddressOutputs {
  /**
   * Confirmed satoshis of an address, including those that a pending sweep spends. Undefined if the chain
   * and the caller disagree on which sweeps were mined.
   * @throws RpcFault
   */
  held(script: string, sweeps: readonly SweepUnderWay[]): Promise<bigint | undefined>;
  /** Final outputs of an address that no confirmed or pending transaction spends. @throws RpcFault */
  spendable(script: string): Promise<readonly UnspentOutput[]>;
  /** An output in the chain that no block spends; undefined if there is none. @throws RpcFault */
  inChain(script: string, place: Place): Promise<UnspentOutput | undefined>;
}

export function createAddressOutputs(
  { confirmations }: Pick<BitcoinFacts, "confirmations">,
  reads: Pick<BitcoinReads, "find" | "bytes" | "confirmationsOf">,
  listing: AddressListing,
): AddressOutputs {
  const known = new Map<string, UnspentOutput>();

  /** Reads an output, cached: the bytes of a transaction never change. */
  const read = async (script: string, { txid, vout }: Place): Promise<UnspentOutput | undefined> => {
    const key = keyOf({ txid, vout });
    const before = known.get(key);
    if (before !== undefined) return before.script === script ? before : undefined;
    const raw = await reads.bytes(txid);
    const output = raw === undefined ? undefined : readRawTransaction(raw)?.outputs[vout];
    if (output === undefined) return undefined;
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(key, { txid, vout, ...output });
    return output.script === script ? { txid, vout, ...output } : undefined;
  };

  const largest = (found: readonly (UnspentOutput | undefined)[]): readonly UnspentOutput[] =>
    found
      .filter((output) => output !== undefined)
      .toSorted((a, b) => compare(b.amount, a.amount) || (keyOf(a) < keyOf(b) ? -1 : 1))
      .slice(0, MAX_OUTPUTS);

  return {
    held: async (script, sweeps) => {
      const candidates = new Map<string, Place>(
        (await listing.outputsOf(script)).map((place) => [keyOf(place), place]),
      );
      for (const { raws, minedTxId } of sweeps)
        for (const raw of raws) {
          const { txid, inputs, outputs } = transactionOf(raw);
          const isMined = (await reads.find(txid))?.block !== undefined;
          if (isMined !== (minedTxId === `0x${txid}`)) return undefined;
          const touched = isMined
            ? outputs.flatMap((output, vout) => (output.script === script ? [{ txid, vout }] : []))
            : inputs;
          for (const place of touched) candidates.set(keyOf(place), place);
        }
      const found = await Promise.all(
        [...candidates.values()].map(async (place) => {
          const output = await read(script, place);
          if (output === undefined) return undefined;
          return (await reads.confirmationsOf(place, false)) > 0 ? output : undefined;
        }),
      );
      return largest(found).reduce((sum, { amount }) => sum + amount, 0n);
    },
    spendable: async (script) =>
      largest(
        await Promise.all(
          (await listing.outputsOf(script)).map(async (place) => {
            const output = await read(script, place);
            return output !== undefined && (await reads.confirmationsOf(place, true)) >= confirmations
              ? output
              : undefined;
          }),
        ),
      ),
    inChain: async (script, place) => {
      const output = await read(script, place);
      return output !== undefined && (await reads.confirmationsOf(place, false)) > 0 ? output : undefined;
    },
  };
}

/**
 * The outputs that a sweep spends: the output that equals the amount, or the largest outputs until they cover
 * it. Undefined if all outputs together do not cover the amount. Pure.
 */
export function outputsFor(
  found: readonly UnspentOutput[],
  amount: bigint,
): readonly UnspentOutput[] | undefined {
  const exact = found.find((output) => output.amount === amount);
  if (exact !== undefined) return [exact];
  const selected: UnspentOutput[] = [];
  let sum = 0n;
  for (const output of found.toSorted((a, b) => compare(b.amount, a.amount))) {
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

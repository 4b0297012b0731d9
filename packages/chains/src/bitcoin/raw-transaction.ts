import { RawTx } from "@scure/btc-signer";
import { RawOldTx } from "@scure/btc-signer/script.js";
import { sha256x2 } from "@scure/btc-signer/utils.js";

/** A transaction read from its own bytes: what it says needs no node's word. Ids are hex as people write them, scripts lower-case hex. */
export interface BitcoinTransaction {
  readonly txid: string;
  /** What is signed: everything but signatures and witnesses, in hex. Two transactions that are alike in this do the same. */
  readonly body: string;
  readonly inputs: readonly BitcoinInput[];
  readonly outputs: readonly BitcoinOutput[];
}

export interface BitcoinInput {
  readonly txid: string;
  readonly vout: number;
  readonly sequence: number;
}

export interface BitcoinOutput {
  /** Satoshis. */
  readonly amount: bigint;
  readonly script: string;
}

/** A transaction out of its bytes; undefined when they are none, or more than one. */
export function readRawTransaction(bytes: Uint8Array): BitcoinTransaction | undefined {
  const tx = decoded(bytes);
  if (tx === undefined) return undefined;
  const unsigned = {
    ...tx,
    inputs: tx.inputs.map((input) => ({ ...input, finalScriptSig: new Uint8Array() })),
  };
  return {
    txid: idOf(sha256x2(RawOldTx.encode(tx))),
    body: hexOf(RawOldTx.encode(unsigned)),
    inputs: tx.inputs.map(({ txid, index, sequence }) => ({ txid: hexOf(txid), vout: index, sequence })),
    outputs: tx.outputs.map(({ amount, script }) => ({ amount, script: hexOf(script) })),
  };
}

/** The first transaction of a block: it makes coins and spends none. */
export function isCoinbase({ inputs }: Pick<BitcoinTransaction, "inputs">): boolean {
  return inputs.length === 1 && inputs[0]?.txid === "00".repeat(32);
}

/** How people write a hash: its bytes the other way round. */
export function idOf(hash: Uint8Array): string {
  return hexOf(Uint8Array.from(hash).reverse());
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Bytes of an even number of hex digits; undefined for anything else. */
export function bytesIn(hex: string): Uint8Array | undefined {
  return /^(?:[0-9a-fA-F]{2})*$/.test(hex) ? Uint8Array.from(Buffer.from(hex, "hex")) : undefined;
}

/** The library throws for bytes that are none, which here is an answer. */
function decoded(bytes: Uint8Array): ReturnType<typeof RawTx.decode> | undefined {
  try {
    return RawTx.decode(bytes);
  } catch {
    return undefined;
  }
}

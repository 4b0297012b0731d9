import { RawTx } from "@scure/btc-signer";
import { BTCArray, RawOldTx } from "@scure/btc-signer/script.js";
import { sha256x2 } from "@scure/btc-signer/utils.js";

/**
 * A transaction parsed from its own bytes, so that no node needs to be trusted for its contents. Ids are hex
 * in display order, scripts lowercase hex.
 */
export interface BitcoinTransaction {
  readonly txid: string;
  /** The transaction without signatures and witnesses, in hex. Equal bodies have the same effect. */
  readonly body: string;
  /** Virtual size in bytes, the basis of fees. */
  readonly vsize: bigint;
  readonly inputs: readonly BitcoinInput[];
  readonly outputs: readonly BitcoinOutput[];
  /** The unlocking data of each input, in order. The id does not commit to it. */
  readonly unlocking: readonly BitcoinUnlocking[];
}

export interface BitcoinUnlocking {
  /** Hex. */
  readonly scriptSig: string;
  readonly witness: readonly Uint8Array[];
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

/** Parses a transaction; undefined if the bytes are not exactly one. */
export function readRawTransaction(bytes: Uint8Array): BitcoinTransaction | undefined {
  const tx = decode(bytes);
  if (tx === undefined) return undefined;
  const unsigned = {
    ...tx,
    inputs: tx.inputs.map((input) => ({ ...input, finalScriptSig: new Uint8Array() })),
  };
  return {
    txid: idOf(sha256x2(RawOldTx.encode(tx))),
    body: hexOf(RawOldTx.encode(unsigned)),
    vsize: BigInt(Math.ceil((RawOldTx.encode(tx).length * 3 + bytes.length) / 4)),
    inputs: tx.inputs.map(({ txid, index, sequence }) => ({ txid: hexOf(txid), vout: index, sequence })),
    outputs: tx.outputs.map(({ amount, script }) => ({ amount, script: hexOf(script) })),
    unlocking: tx.inputs.map(({ finalScriptSig }, index) => ({
      scriptSig: hexOf(finalScriptSig),
      witness: tx.witnesses?.[index] ?? [],
    })),
  };
}

/**
 * Parses a block with all its transactions; undefined if the bytes are not a block. `time` is the header's.
 */
export function readRawBlock(
  bytes: Uint8Array,
):
  | { readonly hash: string; readonly time: bigint; readonly transactions: readonly BitcoinTransaction[] }
  | undefined {
  if (bytes.length <= 80) return undefined;
  const list = decodeList(bytes.subarray(80));
  const transactions = list?.map((tx) => readRawTransaction(RawTx.encode(tx)));
  if (transactions?.every((tx) => tx !== undefined) !== true) return undefined;
  const header = bytes.subarray(0, 80);
  // The header must commit to exactly these transactions.
  if (merkleRoot(transactions) !== idOf(header.slice(36, 68))) return undefined;
  return {
    hash: idOf(sha256x2(header)),
    time: BigInt(new DataView(header.buffer, header.byteOffset).getUint32(68, true)),
    transactions,
  };
}

/** The first transaction of a block: it creates new bitcoin and spends no output. */
export function isCoinbase({ inputs }: Pick<BitcoinTransaction, "inputs">): boolean {
  return inputs.length === 1 && inputs[0]?.txid === "00".repeat(32);
}

/** A hash in display order: its bytes reversed, in hex. */
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

function decodeList(bytes: Uint8Array): ReturnType<typeof RawTx.decode>[] | undefined {
  try {
    return BTCArray(RawTx).decode(bytes);
  } catch {
    return undefined;
  }
}

function merkleRoot(transactions: readonly BitcoinTransaction[]): string | undefined {
  let level = transactions.map(({ txid }) => Buffer.from(txid, "hex").reverse());
  while (level.length > 1) {
    const next: Buffer<ArrayBuffer>[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] ?? Buffer.alloc(0);
      // The last of an odd number of hashes is paired with itself.
      next.push(Buffer.from(sha256x2(Buffer.concat([left, level[index + 1] ?? left]))));
    }
    level = next;
  }
  const [root] = level;
  return root === undefined ? undefined : idOf(root);
}

/** The library throws for invalid bytes, which here is an expected outcome. */
function decode(bytes: Uint8Array): ReturnType<typeof RawTx.decode> | undefined {
  try {
    return RawTx.decode(bytes);
  } catch {
    return undefined;
  }
}

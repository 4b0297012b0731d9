import { Address, OutScript, RawTx } from "@scure/btc-signer";
import { RawOldTx } from "@scure/btc-signer/script.js";
import { sha256x2 } from "@scure/btc-signer/utils.js";

/** Bitcoin Core's regtest network. */
export const REGTEST = { bech32: "bcrt", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef } as const;

/** A parsed transaction. Ids and scripts are hex, ids in display order. */
export interface RawTransaction {
  readonly txid: string;
  readonly wtxid: string;
  readonly hex: string;
  readonly version: number;
  readonly lockTime: number;
  readonly size: number;
  readonly weight: number;
  readonly inputs: readonly RawInput[];
  readonly outputs: readonly RawOutput[];
}

export interface RawInput {
  readonly txid: string;
  readonly vout: number;
  readonly scriptSig: string;
  readonly sequence: number;
  readonly witness: readonly string[];
}

export interface RawOutput {
  /** Satoshis. */
  readonly amount: bigint;
  readonly script: string;
  readonly kind: ScriptKind;
  readonly address: string | undefined;
}

export type ScriptKind = "pk" | "pkh" | "sh" | "wpkh" | "wsh" | "tr" | "ms" | "return" | "other";

/** @throws Error if the bytes are not a transaction */
export function readRawTransaction(hex: string): RawTransaction {
  const bytes = Buffer.from(hex, "hex");
  if (bytes.length * 2 !== hex.length) throw new Error("not hex");
  const tx = RawTx.decode(bytes);
  const base = RawOldTx.encode(tx);
  return {
    txid: displayOrder(sha256x2(base)),
    wtxid: displayOrder(sha256x2(bytes)),
    hex: hex.toLowerCase(),
    version: tx.version,
    lockTime: tx.lockTime,
    size: bytes.length,
    weight: base.length * 3 + bytes.length,
    inputs: tx.inputs.map((input, index) => ({
      txid: hexOf(input.txid),
      vout: input.index,
      scriptSig: hexOf(input.finalScriptSig),
      sequence: input.sequence,
      witness: (tx.witnesses?.[index] ?? []).map(hexOf),
    })),
    outputs: tx.outputs.map(({ amount, script }) => ({ amount, script: hexOf(script), ...kindOf(script) })),
  };
}

/** The first transaction of a block, which has no real inputs. */
export function isCoinbase(tx: Pick<RawTransaction, "inputs">): boolean {
  return tx.inputs.length === 1 && tx.inputs[0]?.txid === "00".repeat(32);
}

/** Virtual size in bytes, the basis of fees. */
export function vsizeOf(tx: Pick<RawTransaction, "weight">): number {
  return Math.ceil(tx.weight / 4);
}

function kindOf(script: Uint8Array): Pick<RawOutput, "kind" | "address"> {
  if (script[0] === 0x6a) return { kind: "return", address: undefined };
  try {
    const decoded = OutScript.decode(script);
    const { type } = decoded;
    if (type === "pk" || type === "ms") return { kind: type, address: undefined };
    if (type === "pkh" || type === "sh" || type === "wpkh" || type === "wsh" || type === "tr")
      return { kind: type, address: Address(REGTEST).encode(decoded) };
    return { kind: "other", address: undefined };
  } catch {
    // A script field can contain any bytes.
    return { kind: "other", address: undefined };
  }
}

function displayOrder(hash: Uint8Array): string {
  return hexOf(Uint8Array.from(hash).reverse());
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

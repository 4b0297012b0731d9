import type { IndexedBlock } from "./chain-index.ts";
import { isCoinbase, vsizeOf, type RawTransaction, type ScriptKind } from "./raw-transaction.ts";
import { CoreError, type RegtestNode } from "./regtest-node.ts";

/** Bitcoin Core's responses about blocks and transactions. */

const TYPES: Readonly<Record<ScriptKind, string>> = {
  pk: "pubkey",
  pkh: "pubkeyhash",
  sh: "scripthash",
  wpkh: "witness_v0_keyhash",
  wsh: "witness_v0_scripthash",
  tr: "witness_v1_taproot",
  ms: "multisig",
  return: "nulldata",
  other: "nonstandard",
};

export function coreTransaction(tx: RawTransaction): object {
  return {
    txid: tx.txid,
    hash: tx.wtxid,
    version: tx.version,
    size: tx.size,
    vsize: vsizeOf(tx),
    weight: tx.weight,
    locktime: tx.lockTime,
    vin: tx.inputs.map((input) => ({
      ...(isCoinbase(tx)
        ? { coinbase: input.scriptSig }
        : { txid: input.txid, vout: input.vout, scriptSig: { asm: "", hex: input.scriptSig } }),
      ...(input.witness.length > 0 && { txinwitness: input.witness }),
      sequence: input.sequence,
    })),
    vout: tx.outputs.map((_, n) => coreOutput(tx, n)),
    hex: tx.hex,
  };
}

export function coreOutput(tx: RawTransaction, n: number): object {
  const output = tx.outputs[n];
  if (output === undefined) throw new CoreError(-8, "no such output");
  return {
    value: btcOf(output.amount),
    n,
    scriptPubKey: {
      asm: "",
      hex: output.script,
      ...(output.address !== undefined && { address: output.address }),
      type: TYPES[output.kind],
    },
  };
}

/** The block fields of a transaction; empty while it is pending. */
export function blockFields(node: RegtestNode, block: IndexedBlock | undefined): object {
  if (block === undefined) return {};
  const fields = { blockhash: block.hash, confirmations: Math.max(0, confirmationsOf(node, block)) };
  return node.index.isInChain(block) ? { ...fields, time: block.time, blocktime: block.time } : fields;
}

export function coreHeader(node: RegtestNode, block: IndexedBlock): object {
  const raw = Buffer.from(block.header, "hex");
  const next = node.index.isInChain(block) ? node.index.blockAt(block.height + 1) : undefined;
  return {
    hash: block.hash,
    confirmations: confirmationsOf(node, block),
    height: block.height,
    version: raw.readInt32LE(0),
    merkleroot: Buffer.from(raw.subarray(36, 68)).reverse().toString("hex"),
    time: block.time,
    nonce: raw.readUInt32LE(76),
    bits: raw.readUInt32LE(72).toString(16),
    nTx: block.transactions.length,
    ...(block.previous !== undefined && { previousblockhash: block.previous }),
    ...(next !== undefined && { nextblockhash: next.hash }),
  };
}

/** Number of confirmations, including its own block; -1 if the block is orphaned. */
function confirmationsOf(node: RegtestNode, block: IndexedBlock): number {
  return node.index.isInChain(block) ? node.index.height - block.height + 1 : -1;
}

/** An amount in Core's format: a JSON number with eight decimals. */
export function btcOf(satoshis: bigint): unknown {
  const digits = satoshis.toString().padStart(9, "0");
  return rawNumber(`${digits.slice(0, -8)}.${digits.slice(-8)}`);
}

function rawNumber(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}

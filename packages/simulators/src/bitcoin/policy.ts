import { isCoinbase, vsizeOf, type RawOutput, type RawTransaction } from "./raw-transaction.ts";

/** Bitcoin Core's reason not to relay a transaction. A miner could still include it. */
export type PolicyRefusal = string;

/** Minimum satoshis per virtual byte for relay. */
export const MIN_RELAY_RATE = 1n;

/** Satoshis per virtual byte above which `sendrawtransaction` rejects the fee as a mistake. */
export const MAX_FEE_RATE = 10_000n;

/** Maximum bytes of an OP_RETURN script: 80 bytes of text and up to three of opcodes. */
const MAX_CARRIER_BYTES = 83;

/** Relay rules of Bitcoin Core before version 30. @param fee satoshis */
export function policyRefusal(tx: RawTransaction, fee: bigint): PolicyRefusal | undefined {
  if (isCoinbase(tx)) return "coinbase";
  if (tx.version < 1 || tx.version > 3) return "version";
  if (tx.weight > 400_000) return "tx-size";
  if ((tx.weight - tx.size) / 3 < 65) return "tx-size-small";
  for (const output of tx.outputs) {
    if (output.kind === "other" || (output.kind === "return" && output.script.length / 2 > MAX_CARRIER_BYTES))
      return "scriptpubkey";
    if (output.kind !== "return" && output.amount < dustLimit(output)) return "dust";
  }
  if (tx.outputs.filter(({ kind }) => kind === "return").length > 1) return "multi-op-return";
  if (fee < BigInt(vsizeOf(tx)) * MIN_RELAY_RATE) return "min relay fee not met";
  return undefined;
}

/** Satoshis below which an output costs more to spend, at 3 per byte, than it holds. */
function dustLimit({ script, kind }: RawOutput): bigint {
  const isWitness = kind === "wpkh" || kind === "wsh" || kind === "tr";
  return 3n * BigInt(8 + 1 + script.length / 2 + (isWitness ? 67 : 148));
}

import { p2wpkh, Script, Transaction } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import type { Hex32 } from "@causeway/domain";
import {
  addressOfScript,
  bytesIn,
  hexOf,
  readRawTransaction,
  type BitcoinOutput,
  type BitcoinTransaction,
} from "@causeway/families/bitcoin";

// Bitcoin transactions for tests.

/** An account whose key the tests have. */
export interface Party {
  readonly key: Uint8Array;
  readonly script: string;
  readonly address: string;
}

export function aParty(seed: number): Party {
  const key = new Uint8Array(32).fill(seed);
  const script = hexOf(p2wpkh(pubECDSA(key)).script);
  return { key, script, address: addressOfScript(script) ?? "" };
}

export const user = aParty(1);
export const depository = aParty(2);
export const stranger = aParty(3);
export const recipient = aParty(4);
export const solver = aParty(5);

export const orderId: Hex32 = `0x${"ab".repeat(32)}`;
export const otherOrderId: Hex32 = `0x${"cd".repeat(32)}`;

export interface BuiltTransaction {
  readonly transaction: BitcoinTransaction;
  readonly spent: readonly BitcoinOutput[];
}

export const outputTo = ({ script }: Party, amount: bigint): BitcoinOutput => ({ script, amount });

/** An output that carries text, pushed with the shortest opcode. */
export const textOutput = (text: string): BitcoinOutput => ({
  amount: 0n,
  script: hexOf(Script.encode(["RETURN", new TextEncoder().encode(text)])),
});

/** An output that carries text, pushed with a longer length field than necessary. */
export function longTextOutput(text: string, lengthBytes: 1 | 2 | 4): BitcoinOutput {
  const data = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  const opcode = { 1: "4c", 2: "4d", 4: "4e" }[lengthBytes];
  return {
    amount: 0n,
    script: `6a${opcode}${length.subarray(0, lengthBytes).toString("hex")}${data.toString("hex")}`,
  };
}

/** A transaction that spends these outputs. Each comes from a separate earlier transaction. */
export function aTransaction(
  spent: readonly BitcoinOutput[],
  outputs: readonly BitcoinOutput[],
): BuiltTransaction {
  return { transaction: readTransaction(unsigned(spent, outputs)), spent };
}

export function aPsbt(spent: readonly BitcoinOutput[], outputs: readonly BitcoinOutput[]): `0x${string}` {
  return `0x${hexOf(unsigned(spent, outputs).toPSBT())}`;
}

/** The earlier transaction whose first output is this one. */
export function sourceOf(
  output: BitcoinOutput,
  index: number,
): BitcoinTransaction & { readonly hex: string } {
  const tx = new Transaction({ allowUnknownOutputs: true, allowUnknownInputs: true });
  tx.addInput({ txid: "ee".repeat(32), index });
  tx.addOutput({ script: bytesIn(output.script) ?? new Uint8Array(), amount: output.amount });
  return { ...readTransaction(tx), hex: hexOf(tx.unsignedTx) };
}

export function unsigned(
  spent: readonly BitcoinOutput[],
  outputs: readonly BitcoinOutput[],
  sequence = 0xfffffffd,
) {
  const tx = new Transaction({
    allowUnknownOutputs: true,
    allowUnknownInputs: true,
    disableScriptCheck: true,
  });
  spent.forEach((output, index) => tx.addInput({ txid: sourceOf(output, index).txid, index: 0, sequence }));
  for (const { script, amount } of outputs)
    tx.addOutput({ script: bytesIn(script) ?? new Uint8Array(), amount });
  return tx;
}

export function readTransaction(tx: Transaction): BitcoinTransaction {
  const transaction = readRawTransaction(tx.unsignedTx);
  if (transaction === undefined) throw new Error("no transaction");
  return transaction;
}

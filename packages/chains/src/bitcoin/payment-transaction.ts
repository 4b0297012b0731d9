import { p2wpkh, Transaction } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import { Script } from "@scure/btc-signer";
import type { OrderId } from "@causeway/domain";
import type { UnspentOutput } from "./output-selection.ts";
import { bytesIn, hexOf, type BitcoinOutput, type BitcoinUnlocking } from "@causeway/families/bitcoin";

/**
 * Below it a transaction says that it may be replaced by one that pays more (BIP 125), and is not bound by
 * its lock time.
 */
const REPLACEABLE = 0xfffffffd;

/**
 * The script of a text that an output carries. 66 characters of an id are within the 80 that every node
 * relays.
 */
export function textScript(text: string): string {
  return hexOf(Script.encode(["RETURN", new TextEncoder().encode(text)]));
}

/** Outputs of a payment: to its recipient, and the id of the order as text, as solvers' payments carry it. */
export function paymentOutputs(
  script: string,
  amount: bigint,
  orderId: OrderId | undefined,
): readonly BitcoinOutput[] {
  const paid = { script, amount };
  return orderId === undefined ? [paid] : [paid, { script: textScript(orderId), amount: 0n }];
}

/** Whether this unlocks an output of a key's witness program. @param script of that program, hex */
export function isUnlockedBy({ witness }: Pick<BitcoinUnlocking, "witness">, script: string): boolean {
  const [, publicKey] = witness;
  return publicKey !== undefined && witness.length === 2 && hexOf(p2wpkh(publicKey).script) === script;
}

/** The script of a key's own witness program. */
export function scriptOfKey(privateKey: Uint8Array): string {
  return hexOf(p2wpkh(pubECDSA(privateKey)).script);
}

/**
 * Signs a transaction that spends outputs of the keys' witness programs. Deterministic: equal arguments give
 * equal bytes.
 */
export function signedTransaction(
  privateKeys: readonly Uint8Array[],
  inputs: readonly UnspentOutput[],
  outputs: readonly BitcoinOutput[],
): { readonly txid: string; readonly bytes: Uint8Array } {
  const tx = unsignedTransaction(inputs, outputs);
  for (const key of privateKeys) tx.sign(key);
  tx.finalize();
  return { txid: tx.id, bytes: tx.extract() };
}

/** A transaction that spends outputs of witness programs; other scripts need more data to be signed. */
export function unsignedTransaction(
  inputs: readonly UnspentOutput[],
  outputs: readonly BitcoinOutput[],
): Transaction {
  const tx = new Transaction({ version: 2, allowUnknownOutputs: true });
  for (const { txid, vout, amount, script } of inputs)
    tx.addInput({
      txid,
      index: vout,
      sequence: REPLACEABLE,
      witnessUtxo: { script: bytesIn(script) ?? new Uint8Array(), amount },
    });
  for (const { script, amount } of outputs)
    tx.addOutput({ script: bytesIn(script) ?? new Uint8Array(), amount });
  return tx;
}

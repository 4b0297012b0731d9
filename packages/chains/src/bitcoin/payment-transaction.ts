import { p2wpkh, Transaction } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import { Script } from "@scure/btc-signer";
import type { OrderId } from "@causeway/domain";
import type { UnspentOutput } from "./output-selection.ts";
import { bytesIn, hexOf, type BitcoinOutput, type BitcoinUnlocking } from "@causeway/families/bitcoin";

/**
 * Sequence number that allows replacing a transaction by one with a higher fee (BIP 125) and disables its
 * lock time.
 */
const REPLACEABLE = 0xfffffffd;

/** The OP_RETURN script of a text. Every node relays up to 80 characters; an id has 66. */
export function textScript(text: string): string {
  return hexOf(Script.encode(["RETURN", new TextEncoder().encode(text)]));
}

/** Outputs of a payment: to its recipient, and the order id as text. */
export function paymentOutputs(
  script: string,
  amount: bigint,
  orderId: OrderId | undefined,
): readonly BitcoinOutput[] {
  const payment = { script, amount };
  return orderId === undefined ? [payment] : [payment, { script: textScript(orderId), amount: 0n }];
}

/** Whether a witness unlocks an output of the P2WPKH script `script` (hex). */
export function isUnlockedBy({ witness }: Pick<BitcoinUnlocking, "witness">, script: string): boolean {
  const [, publicKey] = witness;
  return publicKey !== undefined && witness.length === 2 && hexOf(p2wpkh(publicKey).script) === script;
}

/** The P2WPKH script of a key. */
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

/** A transaction that spends P2WPKH outputs; other scripts would need more data to sign. */
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

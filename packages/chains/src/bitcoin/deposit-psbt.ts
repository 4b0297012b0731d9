import { p2sh, p2tr, p2wpkh, Transaction } from "@scure/btc-signer";
import type { UnspentOutput } from "./output-selection.ts";
import { selectOutputs } from "./output-selection.ts";
import { textScript } from "./payment-transaction.ts";
import { bytesIn, hexOf } from "@causeway/families/bitcoin";
import { feeFor, inputKindOf, vsizeOf, type InputKind } from "./sizes-and-dust.ts";

/** A user's deposit as a transaction for their wallet to sign. Pure. */

export interface DepositTerms {
  /** The user's script, which pays and receives the change. */
  readonly userScript: string;
  readonly depositoryScript: string;
  /** Satoshis. */
  readonly amount: bigint;
  /** The id of the order. Undefined if the deposit pays the order's own address, which needs no id. */
  readonly opReturnText: string | undefined;
  /** The user's spendable outputs. */
  readonly utxos: readonly UnspentOutput[];
  /** The bytes of the transactions that created the outputs, by id: needed only for legacy scripts. */
  readonly sources: ReadonlyMap<string, Uint8Array>;
  /** Satoshis per 1000 virtual bytes. */
  readonly rate: bigint;
  /**
   * The public key of the user's address, if known. Outputs of nested scripts cannot be signed without it.
   */
  readonly publicKey: Uint8Array | undefined;
}

export interface DepositTransaction {
  /** Base64 (BIP 174, version 0). */
  readonly psbt: string;
  /** Satoshis. */
  readonly fee: bigint;
}

/** The deposit transaction; undefined if the outputs do not suffice or the way to spend them is unknown. */
export function depositTransaction(terms: DepositTerms): DepositTransaction | undefined {
  const kind = inputKindOf(terms.userScript);
  const spendingData = kind === undefined ? undefined : spendingDataOf(kind, terms);
  if (kind === undefined || spendingData === undefined) return undefined;
  const outputs = [
    { script: terms.depositoryScript, amount: terms.amount },
    ...opReturnScripts(terms.opReturnText).map((script) => ({ script, amount: 0n })),
  ];
  const selection = selectOutputs({
    required: [],
    available: terms.utxos,
    kind,
    outputs: outputs.map(({ script }) => script),
    amount: terms.amount,
    changeScript: terms.userScript,
    fee: (vsize) => feeFor(vsize, terms.rate),
  });
  if (selection === undefined) return undefined;
  const { inputs, change, fee } = selection;
  const tx = new Transaction({ version: 2, allowUnknownOutputs: true });
  for (const utxo of inputs) {
    const source = terms.sources.get(utxo.txid);
    if (kind === "keyHash" && source === undefined) return undefined;
    tx.addInput({
      txid: utxo.txid,
      index: utxo.vout,
      sequence: 0xfffffffd,
      ...(kind === "keyHash"
        ? { nonWitnessUtxo: source ?? new Uint8Array() }
        : { witnessUtxo: { script: scriptBytes(utxo.script), amount: utxo.amount } }),
      ...spendingData,
    });
  }
  const allOutputs = change > 0n ? [...outputs, { script: terms.userScript, amount: change }] : outputs;
  for (const { script, amount } of allOutputs) tx.addOutput({ script: scriptBytes(script), amount });
  return { psbt: Buffer.from(tx.toPSBT(0)).toString("base64"), fee };
}

/** Fee of a typical deposit in satoshis: one input and a change output. */
export function typicalDepositFee(
  terms: Pick<DepositTerms, "userScript" | "depositoryScript" | "opReturnText" | "rate">,
): bigint {
  const kind = inputKindOf(terms.userScript) ?? "keyHash";
  return feeFor(
    vsizeOf([kind], [terms.depositoryScript, ...opReturnScripts(terms.opReturnText), terms.userScript]),
    terms.rate,
  );
}

function opReturnScripts(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [textScript(text)];
}

/** The data that a signer needs in addition to the output; undefined if unknown. */
function spendingDataOf(
  kind: InputKind,
  { userScript, publicKey }: DepositTerms,
): { readonly redeemScript?: Uint8Array; readonly tapInternalKey?: Uint8Array } | undefined {
  if (kind === "nestedKey") {
    const nested = publicKey?.length === 33 ? p2sh(p2wpkh(publicKey)) : undefined;
    return nested?.redeemScript !== undefined && hexOf(nested.script) === userScript
      ? { redeemScript: nested.redeemScript }
      : undefined;
  }
  if (kind === "taprootKey" && publicKey !== undefined) {
    const internal = publicKey.length === 33 ? publicKey.subarray(1) : publicKey;
    // Omit a key that does not match: wallets find the key themselves, and refuse a wrong one.
    if (internal.length === 32 && hexOf(p2tr(internal).script) === userScript)
      return { tapInternalKey: internal };
  }
  return {};
}

function scriptBytes(script: string): Uint8Array {
  return bytesIn(script) ?? new Uint8Array();
}

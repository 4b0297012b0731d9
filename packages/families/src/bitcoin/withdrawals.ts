import { SigHash, Transaction } from "@scure/btc-signer";
import { bitcoinPsbtId, decodeBitcoinPsbt, type Hex, type Hex32 } from "@causeway/domain";
import { countPsbtMaps } from "./answers/psbt-maps.ts";
import {
  bytesIn,
  readRawTransaction,
  type BitcoinOutput,
  type BitcoinTransaction,
} from "./answers/raw-transaction.ts";
import { addressOfScript, isWitnessProgram } from "./codec/scripts.ts";

/** Judges what a withdrawal's payload, a partially signed transaction, does, and what became of it. Pure. */

export interface WithdrawalPlan {
  readonly id: Hex32;
  /** The transaction without signatures. */
  readonly unsigned: BitcoinTransaction;
}

/**
 * Inputs of a transaction that nodes pass on: 400 000 units of weight, of which the shortest signed input
 * takes 230.
 */
const MAX_INPUTS = 1_739;

/**
 * The transaction of a payload. Its signatures must cover all of it: if one covered only a part, others could
 * add to the transaction, which would then pay without being the payload's own.
 */
export function readWithdrawal(payload: Hex): WithdrawalPlan | { readonly refusal: string } {
  const psbt = decodeBitcoinPsbt(payload);
  const read = psbt === undefined ? undefined : transactionIn(psbt);
  if (psbt === undefined || read === undefined)
    return { refusal: "withdrawal is not a partially signed transaction" };
  const { unsigned, isForWhole } = read;
  if (unsigned.inputs.length > MAX_INPUTS)
    return { refusal: "withdrawal spends more outputs than nodes relay in one transaction" };
  if (!isForWhole) return { refusal: "withdrawal signatures do not cover the whole transaction" };
  const outpoints = new Set(unsigned.inputs.map(({ txid, vout }) => `${txid}:${vout}`));
  if (unsigned.inputs.length === 0 || outpoints.size < unsigned.inputs.length)
    return { refusal: "withdrawal transaction spends nothing, or one output twice" };
  return { id: bitcoinPsbtId(psbt), unsigned };
}

export interface WithdrawalEffect {
  /** Script of the depository that pays. */
  readonly depository: string;
  readonly recipient: string;
  /** Satoshis that the depository loses: what the recipient gets, and the depository's part of the fee. */
  readonly amount: bigint;
}

/**
 * What the transaction does: one depository pays one recipient, who owns the first output that is neither a
 * depository's nor carries text. Other outputs may only give back what others put in for the fee.
 * @param spent what its inputs spend, in their order, by the chain's word: the payload's own is not believed
 */
export function effectOf(
  depositories: ReadonlySet<string>,
  { outputs }: Pick<BitcoinTransaction, "outputs">,
  spent: readonly BitcoinOutput[],
): WithdrawalEffect | { readonly refusal: string } {
  const [depository, ...more] = new Set(
    spent.map(({ script }) => script).filter((one) => depositories.has(one)),
  );
  if (depository === undefined) return { refusal: "withdrawal spends no outputs of a depository" };
  if (more.length > 0) return { refusal: "withdrawal spends from several depositories" };
  const paid = outputs.filter(
    ({ script, amount }) => !depositories.has(script) && !(carriesText(script) && amount === 0n),
  );
  const to = paid[0]?.script;
  const recipient = to === undefined ? undefined : addressOfScript(to);
  if (recipient === undefined) return { refusal: "first output of the withdrawal does not pay an address" };
  const toOthers = sum(paid.filter(({ script }) => script !== to));
  const byOthers = sum(spent.filter(({ script }) => script !== depository));
  if (toOthers > byOthers) return { refusal: "withdrawal pays additional recipients" };
  const kept = sum(outputs.filter(({ script }) => depositories.has(script)));
  const amount = sum(spent.filter(({ script }) => script === depository)) - kept;
  return amount > 0n
    ? { depository, recipient, amount }
    : { refusal: "withdrawal takes nothing from the depository" };
}

/** The id that the transaction will have, where signatures do not change it. */
export function certainId(
  { txid }: Pick<BitcoinTransaction, "txid">,
  spent: readonly BitcoinOutput[],
): string | undefined {
  return spent.every(({ script }) => isWitnessProgram(script)) ? txid : undefined;
}

/**
 * What a final transaction means for a payload: it is the payload's own, it makes that impossible, or it is
 * unrelated.
 */
export function meaningOf(
  unsigned: BitcoinTransaction,
  final: BitcoinTransaction,
): "executed" | "expired" | undefined {
  if (final.body === unsigned.body) return "executed";
  const taken = new Set(final.inputs.map(({ txid, vout }) => `${txid}:${vout}`));
  return unsigned.inputs.some(({ txid, vout }) => taken.has(`${txid}:${vout}`)) ? "expired" : undefined;
}

interface ReadPsbt {
  readonly unsigned: BitcoinTransaction;
  /** Its signatures, and those that it asks for, are for all inputs and outputs. */
  readonly isForWhole: boolean;
}

function transactionIn(psbt: string): ReadPsbt | undefined {
  const bytes = bytesIn(psbt);
  const read = bytes === undefined ? undefined : parsed(bytes);
  if (bytes === undefined || read === undefined) return undefined;
  const { inputs, outputs } = read.unsigned;
  // One map of its own, one for each input and each output.
  return countPsbtMaps(bytes) === 1 + inputs.length + outputs.length ? read : undefined;
}

function parsed(psbt: Uint8Array): ReadPsbt | undefined {
  try {
    const options = {
      allowUnknownInputs: true,
      allowUnknownOutputs: true,
      disableScriptCheck: true,
    } as const;
    const tx = Transaction.fromPSBT(psbt, options);
    const unsigned = readRawTransaction(tx.unsignedTx);
    const inputs = Array.from({ length: tx.inputsLength }, (_, at) => tx.getInput(at));
    return unsigned && { unsigned, isForWhole: inputs.every(isForWhole) };
  } catch {
    // The library throws for what is none.
    return undefined;
  }
}

/** What a signature is of (BIP 143 and 341): everything; taproot may leave that unsaid. */
const ALL: number = SigHash.ALL;
const DEFAULT: number = SigHash.DEFAULT;

function isForWhole({
  sighashType = ALL,
  partialSig = [],
  tapKeySig,
  tapScriptSig = [],
}: ReturnType<Transaction["getInput"]>): boolean {
  const taproot = [tapKeySig, ...tapScriptSig.map(([, signature]) => signature)];
  return [
    sighashType,
    ...partialSig.map(([, signature]) => signature.at(-1) ?? DEFAULT),
    ...taproot.map((signature) => (signature?.length === 65 ? signature[64] : DEFAULT)),
  ].every((of) => of === ALL || of === DEFAULT);
}

function carriesText(script: string): boolean {
  return script.startsWith("6a");
}

function sum(outputs: readonly BitcoinOutput[]): bigint {
  return outputs.reduce((total, { amount }) => total + amount, 0n);
}

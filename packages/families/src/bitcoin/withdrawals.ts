import { SigHash, Transaction } from "@scure/btc-signer";
import { bitcoinPsbtId, decodeBitcoinPsbt, type Hex, type Hex32 } from "@causeway/domain";
import { countPsbtMaps } from "./answers/psbt-maps.ts";
import {
  bytesIn,
  readRawTransaction,
  type BitcoinOutput,
  type BitcoinTransaction,
} from "./answers/raw-transaction.ts";
import { addressOfScript, isWitnessProgram } from "./address-codec/scripts.ts";

/** Judges the effect and the outcome of a withdrawal payload, which is a PSBT. Pure. */

export interface WithdrawalPlan {
  readonly id: Hex32;
  /** The transaction without signatures. */
  readonly unsigned: BitcoinTransaction;
}

/**
 * Maximum inputs of a transaction that nodes relay: 400,000 weight units at 230 or more per signed input.
 */
const MAX_INPUTS = 1_739;

/**
 * The transaction of a payload. Its signatures must cover the whole transaction: otherwise someone could
 * extend it, and the extended transaction would pay but no longer match the payload.
 */
export function readWithdrawal(payload: Hex): WithdrawalPlan | { readonly refusal: string } {
  const psbt = decodeBitcoinPsbt(payload);
  const parsed = psbt === undefined ? undefined : transactionIn(psbt);
  if (psbt === undefined || parsed === undefined)
    return { refusal: "withdrawal is not a partially signed transaction" };
  const { unsigned, isForWhole } = parsed;
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
  /** Satoshis that the depository spends: the recipient's payment and the depository's share of the fee. */
  readonly amount: bigint;
}

/**
 * The effect of the transaction: one depository pays one recipient, the owner of the first output that is not
 * a depository's and carries no text. Other outputs may at most return what other inputs contributed.
 * @param spent the outputs that its inputs spend, in order, read from the chain; the payload's own data is
 * not trusted
 */
export function effectOf(
  depositories: ReadonlySet<string>,
  { outputs }: Pick<BitcoinTransaction, "outputs">,
  spent: readonly BitcoinOutput[],
): WithdrawalEffect | { readonly refusal: string } {
  const [depository, ...otherDepositories] = new Set(
    spent.map(({ script }) => script).filter((script) => depositories.has(script)),
  );
  if (depository === undefined) return { refusal: "withdrawal spends no outputs of a depository" };
  if (otherDepositories.length > 0) return { refusal: "withdrawal spends from several depositories" };
  const paidOutputs = outputs.filter(
    ({ script, amount }) => !depositories.has(script) && !(carriesText(script) && amount === 0n),
  );
  const recipientScript = paidOutputs[0]?.script;
  const recipient = recipientScript === undefined ? undefined : addressOfScript(recipientScript);
  if (recipient === undefined) return { refusal: "first output of the withdrawal does not pay an address" };
  const toOthers = sum(paidOutputs.filter(({ script }) => script !== recipientScript));
  const byOthers = sum(spent.filter(({ script }) => script !== depository));
  if (toOthers > byOthers) return { refusal: "withdrawal pays additional recipients" };
  const returned = sum(outputs.filter(({ script }) => depositories.has(script)));
  const amount = sum(spent.filter(({ script }) => script === depository)) - returned;
  return amount > 0n
    ? { depository, recipient, amount }
    : { refusal: "withdrawal takes nothing from the depository" };
}

/** The id of the signed transaction; undefined if signatures may change it. */
export function certainId(
  { txid }: Pick<BitcoinTransaction, "txid">,
  spent: readonly BitcoinOutput[],
): string | undefined {
  return spent.every(({ script }) => isWitnessProgram(script)) ? txid : undefined;
}

/** How a final transaction relates to a payload: it executes it, makes it impossible, or is unrelated. */
export function meaningOf(
  unsigned: BitcoinTransaction,
  final: BitcoinTransaction,
): "executed" | "expired" | undefined {
  if (final.body === unsigned.body) return "executed";
  const spent = new Set(final.inputs.map(({ txid, vout }) => `${txid}:${vout}`));
  return unsigned.inputs.some(({ txid, vout }) => spent.has(`${txid}:${vout}`)) ? "expired" : undefined;
}

interface ReadPsbt {
  readonly unsigned: BitcoinTransaction;
  /** Existing and requested signatures cover all inputs and outputs. */
  readonly isForWhole: boolean;
}

function transactionIn(psbt: string): ReadPsbt | undefined {
  const bytes = bytesIn(psbt);
  const parsed = bytes === undefined ? undefined : parsePsbt(bytes);
  if (bytes === undefined || parsed === undefined) return undefined;
  const { inputs, outputs } = parsed.unsigned;
  // One global map, and one for each input and output.
  return countPsbtMaps(bytes) === 1 + inputs.length + outputs.length ? parsed : undefined;
}

function parsePsbt(psbt: Uint8Array): ReadPsbt | undefined {
  try {
    const options = {
      allowUnknownInputs: true,
      allowUnknownOutputs: true,
      disableScriptCheck: true,
    } as const;
    const tx = Transaction.fromPSBT(psbt, options);
    const unsigned = readRawTransaction(tx.unsignedTx);
    const inputs = Array.from({ length: tx.inputsLength }, (_, index) => tx.getInput(index));
    return unsigned && { unsigned, isForWhole: inputs.every(isForWhole) };
  } catch {
    // The library throws for invalid bytes.
    return undefined;
  }
}

/** Signature hash types that cover everything (BIP 143 and 341); for taproot, the type may be omitted. */
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
  ].every((type) => type === ALL || type === DEFAULT);
}

function carriesText(script: string): boolean {
  return script.startsWith("6a");
}

function sum(outputs: readonly BitcoinOutput[]): bigint {
  return outputs.reduce((total, { amount }) => total + amount, 0n);
}

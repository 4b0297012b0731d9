import type { BitcoinNetwork } from "@causeway/domain";
import type { DepositEvidence } from "../evidence.ts";
import { bitcoinCodec, encodeBitcoinAddress } from "./address-codec.ts";
import { carriedTexts, depositorIn, idIn, type CarriedText } from "./answers/carried-text.ts";
import { isCoinbase, type BitcoinOutput, type BitcoinTransaction } from "./answers/raw-transaction.ts";
import { addressOfScript } from "./address-codec/scripts.ts";

/** Judges the deposits of a transaction. Pure. */

export interface DepositRules {
  /** Scripts of every depository. */
  readonly depositories: ReadonlySet<string>;
  /** The network whose address format the transaction's texts use. */
  readonly network: BitcoinNetwork;
}

export interface DepositFacts {
  readonly transaction: BitcoinTransaction;
  /** The outputs that its inputs spend, in order; empty for coinbase transactions. */
  readonly spent: readonly BitcoinOutput[];
}

/** The deposit and the script of the receiving depository; undefined if there is no deposit. */
export type DepositJudgment =
  | { readonly deposit: DepositEvidence; readonly script: string }
  | { readonly deposit: undefined }
  | { readonly refusal: string };

/** Whether the transaction pays anything to a depository. */
export function pays(
  depositories: ReadonlySet<string>,
  { outputs }: Pick<BitcoinTransaction, "outputs">,
): boolean {
  return outputs.some(({ script, amount }) => amount > 0n && depositories.has(script));
}

/**
 * Judges the one possible deposit of a transaction: the sum of its outputs to a single depository.
 *
 * - A transaction that spends from a depository is a withdrawal and its change, and a coinbase has no
 *   sender: neither is a deposit.
 *
 * - The id comes from the only output that carries an id. With two such outputs, even equal ones, the deposit
 *   has no id and belongs to its depositor.
 *
 * - The depositor is the owner of the first input, or the account that the transaction names
 *   (`|depositor=…|`), if it names exactly one address. All signers of inputs have signed that
 *   text, and it only gives away their own funds. A signer who does not sign the whole transaction lets
 *   others choose its outputs, including the id.
 */
export function judgeDeposit(rules: DepositRules, { transaction, spent }: DepositFacts): DepositJudgment {
  if (isCoinbase(transaction) || spent.some(({ script }) => rules.depositories.has(script)))
    return { deposit: undefined };
  const received = transaction.outputs.filter(
    ({ script, amount }) => amount > 0n && rules.depositories.has(script),
  );
  const [script, ...otherScripts] = new Set(received.map((output) => output.script));
  if (script === undefined) return { deposit: undefined };
  if (otherScripts.length > 0) return { refusal: "transaction pays several depositories" };
  const texts = carriedTexts(transaction.outputs);
  const depositor = namedDepositor(texts, rules.network) ?? addressOfScript(spent[0]?.script ?? "");
  if (depositor === undefined) return { refusal: "first input has no address, and no depositor is given" };
  const ids = texts.flatMap((text) => {
    const id = idIn(text);
    return id === undefined ? [] : [{ id, vout: text.vout }];
  });
  const carried = ids.length === 1 ? ids[0] : undefined;
  return {
    script,
    deposit: {
      index: String(carried?.vout ?? 0),
      depositor,
      currency: bitcoinCodec.nativeCurrency,
      amount: received.reduce((sum, { amount }) => sum + amount, 0n),
      depositId: carried?.id,
    },
  };
}

/**
 * The address that is named as depositor; undefined if none is, more than one is, or the text is not an
 * address of the network.
 */
function namedDepositor(texts: readonly CarriedText[], network: BitcoinNetwork): string | undefined {
  const [depositorText, ...otherScripts] = new Set(
    texts.map(depositorIn).filter((name) => name !== undefined),
  );
  if (depositorText === undefined || otherScripts.length > 0) return undefined;
  const bytes = encodeBitcoinAddress(network, depositorText);
  return bytes === undefined ? undefined : bitcoinCodec.decode(bytes);
}

import type { BitcoinNetwork } from "@causeway/domain";
import type { DepositEvidence } from "../evidence.ts";
import { bitcoinCodec, encodeBitcoinAddress } from "./codec.ts";
import { carriedTexts, depositorIn, idIn, type CarriedText } from "./answers/carried-text.ts";
import { isCoinbase, type BitcoinOutput, type BitcoinTransaction } from "./answers/raw-transaction.ts";
import { addressOfScript } from "./codec/scripts.ts";

/** Judges what a transaction deposited. Pure. */

export interface DepositRules {
  /** Scripts of every depository. */
  readonly depositories: ReadonlySet<string>;
  /** The network whose address format the transaction's texts use. */
  readonly network: BitcoinNetwork;
}

export interface DepositFacts {
  readonly transaction: BitcoinTransaction;
  /** What its inputs spend, in their order; empty for coinbase transactions. */
  readonly spent: readonly BitcoinOutput[];
}

/** What was deposited, and the script of the depository that received; undefined when there is no deposit. */
export type DepositJudgement =
  | { readonly deposit: DepositEvidence; readonly script: string }
  | { readonly deposit: undefined }
  | { readonly refusal: string };

/** Whether a depository receives anything, whatever that is. */
export function pays(
  depositories: ReadonlySet<string>,
  { outputs }: Pick<BitcoinTransaction, "outputs">,
): boolean {
  return outputs.some(({ script, amount }) => amount > 0n && depositories.has(script));
}

/**
 * One deposit for the whole transaction: the sum of its outputs to the one depository that receives.
 *
 * - What spends from a depository is a withdrawal with its change, and what a coinbase pays has no sender:
 * neither is a deposit. - The id is that of the only output that carries one. Two outputs with ids, equal or
 * not, name no id: the deposit then has none, and belongs to its depositor. - The depositor is the owner of
 * the first input, or whom the transaction names (`|depositor=…|`), if that is an address and the only one
 * named. All signers of inputs have signed that text, and it only gives away what is theirs. A signer who
 * signs less than the whole transaction leaves its outputs, including the id, to others.
 */
export function judgeDeposit(rules: DepositRules, { transaction, spent }: DepositFacts): DepositJudgement {
  if (isCoinbase(transaction) || spent.some(({ script }) => rules.depositories.has(script)))
    return { deposit: undefined };
  const received = transaction.outputs.filter(
    ({ script, amount }) => amount > 0n && rules.depositories.has(script),
  );
  const [script, ...others] = new Set(received.map((output) => output.script));
  if (script === undefined) return { deposit: undefined };
  if (others.length > 0) return { refusal: "transaction pays several depositories" };
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
 * The one address that is named as depositor; undefined when none is, or more than one, or something that is
 * no address of the network.
 */
function namedDepositor(texts: readonly CarriedText[], network: BitcoinNetwork): string | undefined {
  const [named, ...others] = new Set(texts.map(depositorIn).filter((name) => name !== undefined));
  if (named === undefined || others.length > 0) return undefined;
  const bytes = encodeBitcoinAddress(network, named);
  return bytes === undefined ? undefined : bitcoinCodec.decode(bytes);
}

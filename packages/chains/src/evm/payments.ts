import { decodeAbiParameters } from "viem";
import { encodeOrderCall, NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import type { PaymentQuestion } from "../evidence.ts";
import type { LogFact, TransactionFact } from "../family.ts";
import { addressOfWord, wordsOf } from "./event-words.ts";
import { nativeMirrors } from "./native-mirrors.ts";
import { nativeReported, netInflow } from "./net-inflow.ts";
import { SOLVER_CALL_EXECUTED_TOPIC } from "./router-events.ts";

/** Judges what a solver's transaction paid and called. Pure. */

/** What the configuration says about the chain that was paid on. */
export interface PaymentRules {
  /** Every contract that holds deposits there. */
  readonly depositories: readonly Address[];
  /** Contracts whose events are believed. */
  readonly fillContracts: readonly Address[];
  readonly isZksyncStack: boolean;
}

/** A successful transaction in a final block. */
export interface PaymentFacts {
  readonly transaction: Pick<TransactionFact, "from" | "to" | "input" | "value">;
  readonly logs: readonly LogFact[];
  /** Unix seconds of its block. */
  readonly timestamp: bigint;
}

export type PaymentJudgement = { readonly amounts: readonly bigint[] } | { readonly refusal: string };

/**
 * What each recipient received, when the transaction came in time, ends with the order's id and made the order's calls.
 *
 * - Native: the value of the transaction when it goes to the recipient with the id as its whole input, else what the order's fill contract reports to have
 *   paid. That contract must be one that the operator trusts: anybody can emit such an event.
 * - Tokens: the net of that token's own Transfers to and from the recipient, so that coins sent in circles count once or not at all. What leaves a
 *   depository is no payment of a solver: anybody may submit the recipient's own withdrawal, and put an order's id behind it.
 *
 * What leaves a recipient in the native coin shows in no log. Native payments are therefore refused where the payer itself decides what becomes of them: to
 * the account that sent the transaction, to the fill contract, to a depository. Any other recipient was chosen by the order's owner, who answers for it.
 *
 * @throws RangeError when the question names a recipient and currency twice: nobody could tell which transfer is whose.
 */
export function judgePayments(
  rules: PaymentRules,
  facts: PaymentFacts,
  question: PaymentQuestion,
): PaymentJudgement {
  const { transaction, timestamp } = facts;
  const pairs = question.receipts.map(({ recipient, currency }) => `${recipient} ${currency}`);
  if (new Set(pairs).size !== pairs.length)
    throw new RangeError("a recipient and currency is asked for twice");
  if (timestamp > BigInt(question.deadline)) {
    return { refusal: `the transaction came at ${timestamp}, after the deadline ${question.deadline}` };
  }
  if (!endsWith(transaction.input, question.orderId))
    return { refusal: "the transaction's input does not end with the order's id" };
  const fillContract = fillContractOf(question.extraData);
  if (fillContract === "malformed") return { refusal: "the order's extraData names no fill contract" };
  const isTrusted = fillContract !== undefined && rules.fillContracts.includes(fillContract);
  const reports = isTrusted ? facts.logs.filter((log) => log.address === fillContract) : [];

  const missingCall = firstMissingCall(question.calls, reports);
  if (missingCall !== undefined) {
    return {
      refusal: isTrusted
        ? `call ${missingCall} of the order was not executed in its order`
        : "the order has calls, and no trusted fill contract to make them",
    };
  }

  const amounts: bigint[] = [];
  for (const { recipient, currency } of question.receipts) {
    if (rules.depositories.includes(recipient as Address)) {
      // It would count as a deposit too.
      return { refusal: "a depository is no recipient of a payment" };
    }
    if (currency === NATIVE_CURRENCY) {
      if (recipient === transaction.from || recipient === fillContract) {
        return { refusal: "native coin paid to the payer itself proves nothing" };
      }
      amounts.push(nativePaid(recipient, question.orderId, transaction, reports));
      continue;
    }
    if (nativeMirrors(rules.isZksyncStack).has(currency)) {
      return { refusal: `${currency} mirrors the native coin, it is no token` };
    }
    const net = netInflow(recipient, currency, facts.logs, rules.depositories);
    if (net === undefined) return { refusal: `Transfers of ${currency} cannot be read` };
    amounts.push(net > 0n ? net : 0n);
  }
  return { amounts };
}

/** Both are whole bytes, so the comparison is aligned. */
function endsWith(input: Hex, orderId: Hex): boolean {
  return input.length % 2 === 0 && input.length >= 66 && input.endsWith(orderId.slice(2));
}

function fillContractOf(extraData: Hex): Address | undefined | "malformed" {
  if (extraData === "0x") return undefined;
  const words = wordsOf(extraData);
  return (words?.length === 1 ? addressOfWord(words[0]) : undefined) ?? "malformed";
}

function nativePaid(
  recipient: string,
  orderId: Hex,
  transaction: PaymentFacts["transaction"],
  reports: readonly LogFact[],
): bigint {
  if (transaction.to === recipient && transaction.input === orderId) return transaction.value;
  return nativeReported(recipient, reports);
}

/** Index of the first call that no report shows in its turn. Each report stands for one call, each call needs one of its own. */
function firstMissingCall(calls: readonly Hex[], reports: readonly LogFact[]): number | undefined {
  let made = 0;
  for (const log of reports.toSorted((a, b) => a.logIndex - b.logIndex)) {
    if (made === calls.length) break;
    if (log.topics.length !== 1 || log.topics[0] !== SOLVER_CALL_EXECUTED_TOPIC) continue;
    if (callIn(log.data) === calls[made]?.toLowerCase()) made += 1;
  }
  return made === calls.length ? undefined : made;
}

const callFields = [{ type: "address" }, { type: "bytes" }, { type: "uint256" }] as const;

/** The reported call, encoded as an order encodes its calls; undefined when the report is not of that form. */
function callIn(data: Hex): Hex | undefined {
  try {
    const [to, bytes, value] = decodeAbiParameters(callFields, data);
    return encodeOrderCall({ to, data: bytes, value });
  } catch {
    return undefined;
  }
}

import { decodeAbiParameters } from "viem";
import { encodeOrderCall, NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import type { PaymentQuestion } from "../evidence.ts";
import type { LogFact, TransactionFact } from "./port.ts";
import { ERC20_DEPOSIT_TOPIC, NATIVE_DEPOSIT_TOPIC, TRANSFER_TOPIC } from "./deposits.ts";
import { addressOfTopic, addressOfWord, splitWords } from "./answers/event-words.ts";
import { nativeMirrors } from "./answers/native-mirrors.ts";
import { namedPayments, type NamedPayments } from "./deposits/named-payments.ts";
import { keptPayment, nativeReported } from "./payments/net-inflow.ts";
import { SOLVER_CALL_EXECUTED_TOPIC } from "./payments/router-events.ts";

/** Judges what a solver's transaction paid and called. Pure. */

/** Configuration of the chain on which the payment was made. */
export interface PaymentRules {
  /** Every depository of the chain. */
  readonly depositories: readonly Address[];
  /** Routers whose events count, and the approval proxies that route to them. */
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

export type PaymentJudgment = { readonly amounts: readonly bigint[] } | { readonly refusal: string };

/**
 * What the sender of the transaction paid each recipient. The transaction must be in time, end with the order
 * id and make the order's calls.
 *
 * A payment counts if the sender's own calldata names it (`namedPayments`) and the chain shows it:
 * - Native: the value of the transaction if it goes to the recipient with the id as its whole input,
 *   otherwise what the order's fill contract reports.
 * - Tokens: Transfers from the sender, or from the fill contract that it called, minus what the recipient
 *   returned before the router checked the balance. Anything else that the recipient gets (from a trade, a
 *   claim or a withdrawal) is its own money: anyone can trigger it and append an order id.
 *
 * No log shows native tokens that leave a recipient. Native payments are therefore refused if the payer may
 * control the recipient: the account that sent the transaction, the fill contract, or a depository. Any
 * other recipient was chosen by the order's owner.
 *
 * @throws RangeError if the question contains a recipient and currency twice: their transfers would be
 * indistinguishable.
 */
export function judgePayments(
  rules: PaymentRules,
  facts: PaymentFacts,
  question: PaymentQuestion,
): PaymentJudgment {
  const { transaction, timestamp } = facts;
  const pairs = question.receipts.map(({ recipient, currency }) => `${recipient} ${currency}`);
  if (new Set(pairs).size !== pairs.length) throw new RangeError("duplicate pair of recipient and currency");
  if (timestamp > BigInt(question.deadline)) {
    return { refusal: `transaction was mined at ${timestamp}, after the deadline ${question.deadline}` };
  }
  if (!endsWith(transaction.input, question.orderId))
    return { refusal: "transaction input does not end with the order id" };
  const fillContract = fillContractOf(question.extraData);
  if (fillContract === "malformed") return { refusal: "extraData of the order contains no fill contract" };
  const isTrusted = fillContract !== undefined && rules.fillContracts.includes(fillContract);
  const named = namedPayments(
    transaction,
    question.orderId,
    isTrusted ? fillContract : undefined,
    rules.fillContracts,
  );
  // Only the order's solver may deposit in its own fills. Deposits by called contracts do not count: a
  // recipient could make one just to have its payment refused.
  const isDeposit = named.isDeposit ?? facts.logs.some((log) => paysInto(rules.depositories, log));
  if (transaction.from !== question.solver && isDeposit)
    return { refusal: "transaction pays a depository, so it is a deposit" };
  const reports = named.isThroughFillContract ? facts.logs.filter((log) => log.address === fillContract) : [];

  const missingCall = firstMissingCall(question.calls, reports);
  if (missingCall !== undefined) {
    return {
      refusal: isTrusted
        ? `call ${missingCall} of the order was not executed, or not in sequence`
        : "order has calls but no trusted fill contract to make them",
    };
  }

  const amounts: bigint[] = [];
  for (const { recipient, currency } of question.receipts) {
    if (rules.depositories.includes(recipient as Address)) {
      // The payment would count as a deposit too.
      return { refusal: "recipient of a payment must not be a depository" };
    }
    if (recipient === transaction.from || (recipient === fillContract && currency === NATIVE_CURRENCY))
      return {
        refusal:
          "recipient must be neither the sender of the transaction nor, for native payments, the fill contract",
      };
    if (currency === NATIVE_CURRENCY) {
      amounts.push(nativePaid(recipient, named, reports));
      continue;
    }
    if (nativeMirrors(rules.isZksyncStack).has(currency)) {
      return { refusal: `${currency} mirrors the native token and cannot be attested separately` };
    }
    const { payer } = named;
    const keptAmount = keptPayment(recipient, currency, facts.logs, {
      payer,
      named: amountNamed(named.payments ?? [], recipient, currency),
      guaranteed: amountGuaranteed(named.guaranteed, recipient, currency),
    });
    if (keptAmount === undefined) return { refusal: `Transfers of ${currency} cannot be read` };
    amounts.push(keptAmount);
  }
  return { amounts };
}

/** Requires whole bytes, so that the comparison is aligned. */
function endsWith(input: Hex, orderId: Hex): boolean {
  return input.length % 2 === 0 && input.length >= 66 && input.endsWith(orderId.slice(2));
}

function fillContractOf(extraData: Hex): Address | undefined | "malformed" {
  if (extraData === "0x") return undefined;
  const words = splitWords(extraData);
  return (words?.length === 1 ? addressOfWord(words[0]) : undefined) ?? "malformed";
}

function nativePaid(
  recipient: string,
  { payments, isThroughFillContract }: NamedPayments,
  reports: readonly LogFact[],
): bigint {
  const reported = nativeReported(recipient, reports);
  if (payments === undefined) return reported;
  const named = amountNamed(payments, recipient, NATIVE_CURRENCY);
  return isThroughFillContract && reported < named ? reported : named;
}

function amountNamed(
  payments: NonNullable<NamedPayments["payments"]>,
  recipient: string,
  currency: string,
): bigint {
  return payments.reduce(
    (sum, payment) =>
      payment.recipient === recipient && payment.currency === currency ? sum + payment.amount : sum,
    0n,
  );
}

/** The largest guaranteed amount: one balance satisfies several checks, so they do not add up. */
function amountGuaranteed(
  guaranteed: NamedPayments["guaranteed"],
  recipient: string,
  currency: string,
): bigint {
  return guaranteed.reduce(
    (max, payment) =>
      payment.recipient === recipient && payment.currency === currency && payment.amount > max
        ? payment.amount
        : max,
    0n,
  );
}

function paysInto(depositories: readonly Address[], { address, topics }: LogFact): boolean {
  const [topic, , to] = topics;
  if (topic === TRANSFER_TOPIC && topics.length === 3) {
    const recipient = addressOfTopic(to);
    return recipient !== undefined && depositories.includes(recipient);
  }
  return (topic === NATIVE_DEPOSIT_TOPIC || topic === ERC20_DEPOSIT_TOPIC) && depositories.includes(address);
}

/**
 * Index of the first call without a report, in the calls' order; undefined if none. Each report proves one
 * call.
 */
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

/** The reported call in an order's encoding of calls; undefined if the report is malformed. */
function callIn(data: Hex): Hex | undefined {
  try {
    const [to, bytes, value] = decodeAbiParameters(callFields, data);
    return encodeOrderCall({ to, data: bytes, value });
  } catch {
    return undefined;
  }
}

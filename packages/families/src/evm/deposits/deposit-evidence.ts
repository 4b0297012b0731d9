import { NATIVE_CURRENCY, type Address } from "@causeway/domain";
import type { DepositEvidence } from "../../evidence.ts";
import type { DepositFact, LogFact, ReceiptFact, TransactionFact } from "../port.ts";
import { addressTopic, depositsInLogs, TRANSFER_TOPIC, type DepositReading } from "../deposits.ts";
import { addressOfTopic, splitWords } from "../answers/event-words.ts";
import { nativeMirrors } from "../answers/native-mirrors.ts";
import { CALL_EXECUTED_TOPIC, tokenPaymentIn } from "../withdrawals.ts";

/** The deposits of one successful transaction, as an oracle attests them. Pure. */

export interface DepositRules {
  readonly depository: Address;
  readonly isZksyncStack: boolean;
}

/**
 * Whether judging the deposits requires the transaction itself: the id of a direct transfer is in the
 * calldata, whereas events contain their ids.
 */
export function needsCalldata(rules: DepositRules, receipt: ReceiptFact): boolean {
  return read(rules, receipt, undefined).direct.size > 0;
}

/** Deposits in chain order. `transaction` may be undefined if {@link needsCalldata} is false. */
export function depositEvidenceIn(
  rules: DepositRules,
  receipt: ReceiptFact,
  transaction: TransactionFact | undefined,
): DepositEvidence[] {
  const { deposits, direct } = read(rules, receipt, transaction);
  const credited = creditedAmounts(rules.depository, receipt.logs, deposits, direct);
  return deposits.flatMap((deposit) => {
    const { logIndex, depositor, currency, id } = deposit;
    const amount = credited.get(logIndex) ?? 0n;
    if (amount === 0n) return [];
    const bareFlag = direct.has(deposit) && id === undefined ? ({ isBare: true } as const) : {};
    return [{ index: logIndex.toString(), depositor, currency, amount, depositId: id, ...bareFlag }];
  });
}

/**
 * The credited amount of each deposit, by log index. For each token, the total is at most its net inflow: a
 * token may charge its fee to the receiver in a separate Transfer, and any credit above the net inflow would
 * be paid from other people's deposits. The loss reduces direct transfers, which the depository did not
 * measure, before the depository's own events, and later deposits before earlier ones.
 *
 * Withdrawals that the depository reports do not count as a loss: a withdrawal that is executed in the
 * transaction of another user's deposit must not reduce that deposit. It is debited when its payload is
 * attested.
 *
 * Only attestations are reduced: the service credits every inflow in full. The solver loses the difference,
 * because only attestations repay its fills.
 */
function creditedAmounts(
  depository: Address,
  logs: readonly LogFact[],
  deposits: readonly DepositFact[],
  direct: ReadonlySet<DepositFact>,
): ReadonlyMap<number, bigint> {
  const credited = new Map<number, bigint>();
  for (const currency of new Set(deposits.map((deposit) => deposit.currency))) {
    const credits = deposits.filter((deposit) => deposit.currency === currency);
    let remaining = currency === NATIVE_CURRENCY ? undefined : netInflow(depository, currency, logs);
    for (const { logIndex, amount } of [
      ...credits.filter((deposit) => !direct.has(deposit)),
      ...credits.filter((deposit) => direct.has(deposit)),
    ]) {
      const share = remaining === undefined || amount <= remaining ? amount : remaining;
      credited.set(logIndex, share);
      if (remaining !== undefined) remaining -= share;
    }
  }
  return credited;
}

/** The inflow of a token minus its outflow except withdrawals; never negative. */
function netInflow(depository: Address, token: Address, logs: readonly LogFact[]): bigint {
  const depositoryTopic = addressTopic(depository);
  let net = 0n;
  let sent: { readonly to: Address; readonly amount: bigint }[] = [];
  for (const log of logs.toSorted((a, b) => a.logIndex - b.logIndex)) {
    const [topic, from, to] = log.topics;
    if (log.address === depository && topic === CALL_EXECUTED_TOPIC) {
      const payment = tokenPaymentIn(log.data);
      const outflowIndex = sent.findLastIndex(
        (outflow) =>
          token === payment?.token && outflow.to === payment.recipient && outflow.amount <= payment.amount,
      );
      net += sent[outflowIndex]?.amount ?? 0n;
      // Outflows before this report cannot belong to a later report.
      sent = [];
    } else if (log.address === token && topic === TRANSFER_TOPIC && log.topics.length === 3 && from !== to) {
      const words = splitWords(log.data);
      const amount = words?.length === 1 ? (words[0] ?? 0n) : 0n;
      const recipient = addressOfTopic(to);
      if (to === depositoryTopic) net += amount;
      if (from !== depositoryTopic) continue;
      net -= amount;
      if (recipient !== undefined) sent.push({ to: recipient, amount });
    }
  }
  return net > 0n ? net : 0n;
}

function read(
  rules: DepositRules,
  receipt: ReceiptFact,
  transaction: TransactionFact | undefined,
): DepositReading {
  const mirrors = nativeMirrors(rules.isZksyncStack);
  const logs = receipt.logs.filter((log: LogFact) => !mirrors.has(log.address));
  // Without calldata, direct transfers have no id; attestations do not contain the transaction's sender.
  const transactionFact = transaction ?? {
    hash: receipt.txHash,
    from: rules.depository,
    to: undefined,
    input: "0x",
    value: 0n,
    nonce: 0,
  };
  return depositsInLogs(
    { depository: rules.depository, tokens: undefined },
    logs,
    new Map([[receipt.txHash, transactionFact]]),
  );
}

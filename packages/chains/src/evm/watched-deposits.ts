import type { Address, Hex } from "@causeway/domain";
import { attestedDepository, type DepositEvidence } from "@causeway/families";
import {
  depositEvidenceIn,
  depositsInLogs,
  isCandidate,
  type DepositFact,
  type DepositQuestion,
  type IgnoredLog,
  type LogFact,
  type ReceiptFact,
  type TransactionFact,
} from "@causeway/families/evm";

/** Finds deposits in a chain's current depository and its former ones. Pure. */

/** The current depository first, then the former ones that are still configured. */
export type Depositories = readonly [Address, ...Address[]];

export interface WatchedQuestion extends Pick<DepositQuestion, "tokens"> {
  readonly depositories: Depositories;
}

/** Whether a log may belong to a deposit in one of the depositories. */
export function isWatched({ depositories, tokens }: WatchedQuestion, log: LogFact): boolean {
  return depositories.some((depository) => isCandidate({ depository, tokens }, log));
}

/**
 * Deposits of {@link depositsInLogs} in each depository, in chain order. Equal deposits are numbered across
 * all depositories, because a deposit's key contains the number but not its depository.
 *
 * @throws RangeError when a transaction is missing
 */
export function watchedDepositsIn(
  { depositories, tokens }: WatchedQuestion,
  logs: readonly LogFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): { readonly deposits: readonly DepositFact[]; readonly ignored: readonly IgnoredLog[] } {
  // Equal deposits in the depositories that were read before, by identity.
  const earlierCounts = new Map<string, number>();
  const readings = depositories.map((depository) => {
    const { deposits, ignored } = depositsInLogs({ depository, tokens }, logs, transactions);
    const counts = new Map<string, number>();
    const numbered = deposits.map((deposit): DepositFact => {
      const { txHash, depositor, currency, amount, id, ordinal } = deposit;
      const identity = `${txHash} ${depositor} ${currency} ${amount} ${id}`;
      counts.set(identity, (counts.get(identity) ?? 0) + 1);
      return { ...deposit, ordinal: (earlierCounts.get(identity) ?? 0) + ordinal, depository };
    });
    for (const [identity, count] of counts)
      earlierCounts.set(identity, (earlierCounts.get(identity) ?? 0) + count);
    return { numbered, ignored };
  });
  return {
    deposits: readings.flatMap(({ numbered }) => numbered).toSorted(inChainOrder),
    ignored: readings.flatMap(({ ignored }) => ignored),
  };
}

/**
 * The depository whose deposits of a transaction oracles attest, and those deposits. Oracles attest no other
 * deposits of that transaction.
 */
export function findAttested(
  [current, ...former]: Depositories,
  receipt: ReceiptFact,
  transaction: TransactionFact,
): { readonly depository: Address; readonly deposits: readonly DepositEvidence[] } {
  // Transfers of a mirror of the native token carry no id, so they never decide which depository is attested.
  const read = (depository: Address) => ({
    depository,
    deposits: depositEvidenceIn({ depository, isZksyncStack: false }, receipt, transaction),
  });
  return attestedDepository([read(current), ...former.map(read)]);
}

/**
 * Deposits of one successful transaction. Deposits in a depository other than the attested one are marked as
 * unattestable.
 */
export function watchedDepositsOf(
  question: WatchedQuestion,
  receipt: ReceiptFact,
  transaction: TransactionFact,
): DepositFact[] {
  const { deposits } = watchedDepositsIn(question, receipt.logs, new Map([[receipt.txHash, transaction]]));
  if (!deposits.some((deposit) => isInFormerDepository(question, deposit))) return [...deposits];
  const { depository } = findAttested(question.depositories, receipt, transaction);
  return deposits.map((deposit) =>
    deposit.depository === depository ? deposit : { ...deposit, isUnattestable: true },
  );
}

export function isInFormerDepository(
  { depositories: [current] }: Pick<WatchedQuestion, "depositories">,
  { depository }: Pick<DepositFact, "depository">,
): boolean {
  return depository !== current;
}

function inChainOrder(a: DepositFact, b: DepositFact): number {
  if (a.blockNumber !== b.blockNumber) return a.blockNumber < b.blockNumber ? -1 : 1;
  return a.logIndex - b.logIndex;
}

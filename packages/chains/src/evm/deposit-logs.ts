import type { Address, Hex } from "@causeway/domain";
import {
  depositFilters,
  type BlockRange,
  type DepositFact,
  type IgnoredLog,
  type TransactionFact,
} from "@causeway/families/evm";
import { fetchRangeLogs, type LogNode } from "./range-logs.ts";
import {
  blockReads,
  findAttestedDepository,
  judgeAttestability,
  judgeTogether,
  type Attestability,
  type AttestationRules,
  type DepositingTransaction,
} from "./attestable.ts";
import {
  isInFormerDepository,
  isWatched,
  watchedDepositsIn,
  type WatchedQuestion,
} from "./watched-deposits.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Deposits of a block range, in chain order, judged by {@link watchedDepositsIn}.
 *
 * @throws RpcFault if any answer is not about the requested blocks, or the node does not have all of them
 */
export async function fetchDeposits(
  transport: RpcTransport,
  question: WatchedQuestion,
  range: BlockRange,
  {
    attestation,
    onIgnored = () => undefined,
    logNode,
  }: {
    readonly attestation?: AttestationRules;
    readonly onIgnored?: (ignored: readonly IgnoredLog[]) => void;
    readonly logNode?: LogNode;
  } = {},
): Promise<DepositFact[]> {
  if (range.from > range.to) return [];
  const { logs, transactions } = await fetchRangeLogs(
    transport,
    {
      filters: depositFilters(question.depositories, question.tokens),
      accepts: (log) => isWatched(question, log),
    },
    range,
    logNode,
  );
  const judged = watchedDepositsIn(question, logs, transactions);
  if (judged.ignored.length > 0) onIgnored(judged.ignored);
  const { depositories } = question;
  return await withAttestability(transport, { depositories, attestation }, judged.deposits, transactions);
}

/**
 * Maximum transactions of a block that are judged concurrently: anyone can fill a block with deposits, each
 * of which may cost a request. Memory is limited by the connection: it reads two answers of 4 to 64 MiB and
 * six smaller answers at once.
 */
const MAX_JUDGED_TOGETHER = 32;

/** Marks the deposits that oracles cannot attest, and the deposits for which that is unknown. */
async function withAttestability(
  transport: RpcTransport,
  rules: Parameters<typeof findAttestedDepository>[1],
  deposits: readonly DepositFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): Promise<DepositFact[]> {
  const verdicts = new Map<Hex, Attestability | { readonly depository: Address }>();
  const [depository] = rules.depositories;
  const { attestation } = rules;
  const reads = blockReads(transport, depository);
  const inFormerDepository = new Set(
    deposits.filter((deposit) => isInFormerDepository(rules, deposit)).map(({ txHash }) => txHash),
  );
  const judge = async (
    depositing: DepositingTransaction,
  ): Promise<Attestability | { readonly depository: Address }> =>
    inFormerDepository.has(depositing.transaction.hash)
      ? await findAttestedDepository(transport, rules, depositing, reads)
      : await judgeAttestability(transport, { depository, attestation }, depositing, reads);
  for (const blockTransactions of byBlock(deposits, transactions))
    for (let start = 0; start < blockTransactions.length; start += MAX_JUDGED_TOGETHER) {
      const group = blockTransactions.slice(start, start + MAX_JUDGED_TOGETHER);
      for (const [hash, verdict] of await judgeTogether(group, judge)) verdicts.set(hash, verdict);
    }
  return deposits.map((deposit) => {
    const verdict = verdicts.get(deposit.txHash) ?? "attestable";
    const isAttested = typeof verdict === "object" && verdict.depository === deposit.depository;
    if (verdict === "attestable" || isAttested) return deposit;
    return {
      ...deposit,
      isUnattestable: true,
      ...(verdict === "unknown" && { isAttestabilityUnknown: true }),
    };
  });
}

/** Transactions with deposits, grouped by block. */
function byBlock(
  deposits: readonly DepositFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): Iterable<readonly DepositingTransaction[]> {
  const blocks = new Map<Hex, Map<Hex, DepositingTransaction>>();
  for (const { txHash, blockNumber: number, blockHash: hash } of deposits) {
    const transaction = transactions.get(txHash);
    if (transaction === undefined) continue;
    const blockTransactions = blocks.get(hash) ?? new Map<Hex, DepositingTransaction>();
    blocks.set(hash, blockTransactions.set(txHash, { transaction, block: { number, hash } }));
  }
  return [...blocks.values()].map((blockTransactions) => [...blockTransactions.values()]);
}

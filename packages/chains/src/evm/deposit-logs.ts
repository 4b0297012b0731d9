import type { Address, Hex } from "@causeway/domain";
import type { BlockRange, DepositFact, TransactionFact } from "../family.ts";
import { depositFilters, type IgnoredLog } from "./deposits.ts";
import { fetchRangeLogs } from "./range-logs.ts";
import {
  blockLogsAbout,
  findAttestedDepository,
  judgeAttestability,
  type Attestability,
  type AttestationRules,
} from "./attestable.ts";
import { isInFormer, isWatched, watchedDepositsIn, type WatchedQuestion } from "./watched-deposits.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Deposits of a block range, in chain order, judged by {@link watchedDepositsIn}.
 *
 * @throws RpcFault when any answer is not about the asked blocks, or the node does not have all of them.
 */
export async function fetchDeposits(
  transport: RpcTransport,
  question: WatchedQuestion,
  range: BlockRange,
  {
    attestation,
    onIgnored = () => undefined,
  }: {
    readonly attestation?: AttestationRules;
    readonly onIgnored?: (ignored: readonly IgnoredLog[]) => void;
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
  );
  const reading = watchedDepositsIn(question, logs, transactions);
  if (reading.ignored.length > 0) onIgnored(reading.ignored);
  const { depositories } = question;
  return await withAttestability(transport, { depositories, attestation }, reading.deposits, transactions);
}

/** Marks the deposits that oracles cannot attest, or of which that is not known. */
async function withAttestability(
  transport: RpcTransport,
  rules: Parameters<typeof findAttestedDepository>[1],
  deposits: readonly DepositFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): Promise<DepositFact[]> {
  const blocks = new Map(
    deposits.map(({ txHash, blockNumber, blockHash }) => [txHash, { number: blockNumber, hash: blockHash }]),
  );
  const verdicts = new Map<Hex, Attestability | { readonly depository: Address }>();
  const [depository] = rules.depositories;
  const { attestation } = rules;
  const blockLogs = blockLogsAbout(transport, depository);
  const inFormer = new Set(
    deposits.filter((deposit) => isInFormer(rules, deposit)).map(({ txHash }) => txHash),
  );
  // One after the other: what is read of each can be large.
  for (const [txHash, block] of blocks) {
    const transaction = transactions.get(txHash);
    if (transaction === undefined) continue;
    const depositing = { transaction, block };
    const verdict = inFormer.has(txHash)
      ? await findAttestedDepository(transport, rules, depositing)
      : await judgeAttestability(transport, { depository, attestation }, depositing, blockLogs);
    verdicts.set(txHash, verdict);
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

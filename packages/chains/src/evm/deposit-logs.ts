import type { Hex } from "@causeway/domain";
import type { BlockRange, DepositFact, TransactionFact } from "../family.ts";
import {
  depositFilters,
  depositsInLogs,
  isCandidate,
  type DepositQuestion,
  type IgnoredLog,
} from "./deposits.ts";
import { fetchRangeLogs } from "./range-logs.ts";
import {
  blockLogsAbout,
  judgeAttestability,
  type Attestability,
  type AttestationRules,
} from "./attestable.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Deposits of a block range, in chain order, judged by {@link depositsInLogs}.
 *
 * @throws RpcFault when any answer is not about the asked blocks, or the node does not have all of them.
 */
export async function fetchDeposits(
  transport: RpcTransport,
  question: DepositQuestion,
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
    { filters: depositFilters(question), accepts: (log) => isCandidate(question, log) },
    range,
  );
  const reading = depositsInLogs(question, logs, transactions);
  if (reading.ignored.length > 0) onIgnored(reading.ignored);
  const { depository } = question;
  return await withAttestability(transport, { depository, attestation }, reading.deposits, transactions);
}

/** Marks the deposits that oracles cannot attest, or of which that is not known. */
async function withAttestability(
  transport: RpcTransport,
  rules: Parameters<typeof judgeAttestability>[1],
  deposits: readonly DepositFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): Promise<DepositFact[]> {
  const blocks = new Map(
    deposits.map(({ txHash, blockNumber, blockHash }) => [txHash, { number: blockNumber, hash: blockHash }]),
  );
  const verdicts = new Map<Hex, Attestability>();
  const blockLogs = blockLogsAbout(transport, rules.depository);
  // One after the other: what is read of each can be large.
  for (const [txHash, block] of blocks) {
    const transaction = transactions.get(txHash);
    if (transaction === undefined) continue;
    verdicts.set(txHash, await judgeAttestability(transport, rules, { transaction, block }, blockLogs));
  }
  return deposits.map((deposit) => {
    const verdict = verdicts.get(deposit.txHash) ?? "attestable";
    if (verdict === "attestable") return deposit;
    return {
      ...deposit,
      isUnattestable: true,
      ...(verdict === "unknown" && { isAttestabilityUnknown: true }),
    };
  });
}

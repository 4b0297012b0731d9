import type { Address, Hex } from "@causeway/domain";
import type { BlockRange, DepositFact, TransactionFact } from "../family.ts";
import { depositFilters, type IgnoredLog } from "./deposits.ts";
import { fetchRangeLogs } from "./range-logs.ts";
import {
  blockReads,
  findAttestedDepository,
  isSurelySmall,
  judgeAttestability,
  type Attestability,
  type AttestationRules,
  type Depositing,
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

/** Small transactions of a block whose attestability is asked for at once. */
const JUDGED_TOGETHER = 32;

/** Marks the deposits that oracles cannot attest, or of which that is not known. */
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
  const inFormer = new Set(
    deposits.filter((deposit) => isInFormer(rules, deposit)).map(({ txHash }) => txHash),
  );
  const judge = async (depositing: Depositing): Promise<void> => {
    const { hash } = depositing.transaction;
    const verdict = inFormer.has(hash)
      ? await findAttestedDepository(transport, rules, depositing, reads)
      : await judgeAttestability(transport, { depository, attestation }, depositing, reads);
    verdicts.set(hash, verdict);
  };
  for (const ofBlock of byBlock(deposits, transactions)) {
    const small = ofBlock.filter(({ transaction }) => isSurelySmall(transaction));
    for (let at = 0; at < small.length; at += JUDGED_TOGETHER)
      await Promise.all(small.slice(at, at + JUDGED_TOGETHER).map(judge));
    // One after the other: what is read of each can be large.
    for (const one of ofBlock) if (!small.includes(one)) await judge(one);
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

/** Transactions with deposits, those of one block together. */
function byBlock(
  deposits: readonly DepositFact[],
  transactions: ReadonlyMap<Hex, TransactionFact>,
): Iterable<readonly Depositing[]> {
  const blocks = new Map<Hex, Map<Hex, Depositing>>();
  for (const { txHash, blockNumber: number, blockHash: hash } of deposits) {
    const transaction = transactions.get(txHash);
    if (transaction === undefined) continue;
    const ofBlock = blocks.get(hash) ?? new Map<Hex, Depositing>();
    blocks.set(hash, ofBlock.set(txHash, { transaction, block: { number, hash } }));
  }
  return [...blocks.values()].map((ofBlock) => [...ofBlock.values()]);
}

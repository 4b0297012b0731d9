import {
  isAttestedInParts,
  MAX_WHOLE_DEPOSITS,
  type Address,
  type AttestationHub,
  type Hex,
} from "@causeway/domain";
import {
  depositFilters,
  depositsInLogs,
  readBlock,
  readReceipt,
  type BlockRef,
  type LogFact,
  type ReceiptFact,
  type TransactionFact,
} from "@causeway/families/evm";
import { fetchBlockLogs, type LogQuestion } from "./range-logs.ts";
import { requireReadableReceipt } from "./receipt-size.ts";
import { isLate, isTooLarge } from "./rpc-errors.ts";
import { findAttested, type Depositories } from "./watched-deposits.ts";
import { inconsistent, RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/** Properties of the hub that decide how oracles attest deposits. */
export type AttestationRules = Pick<AttestationHub, "depositPartsSince">;

/**
 * A log costs at least 375 gas, so a transaction with a gas limit below this cannot have more deposits than
 * fit into one execution.
 */
const SURELY_ONE_EXECUTION_GAS = 375n * BigInt(MAX_WHOLE_DEPOSITS + 1);

/**
 * A receipt has about one byte per gas, so the receipt of a transaction with a gas limit below this is read
 * within any deadline.
 */
const SURELY_SMALL_GAS = 2_000_000n;

/** `unknown`: the node did not answer in time. Callers must be safe either way. */
export type Attestability = "attestable" | "unattestable" | "unknown";

/** A mined transaction with deposits. */
export interface DepositingTransaction {
  readonly transaction: TransactionFact;
  readonly block: Pick<BlockRef, "number" | "hash">;
}

type Node = Pick<RpcTransport, "request" | "requestBatch">;

/** The verdict after an answer that is too large or too late. */
type HeavyVerdict = Exclude<Attestability, "attestable">;

/**
 * Judges transactions concurrently. Transactions whose answer was too large or too late are judged again one
 * by one: concurrent answers share the limits of a batch and the bandwidth, and one large receipt must not
 * decide about another transaction.
 *
 * @throws what `judge` throws for another reason, or if the small receipt of an ordinary transaction is late
 */
export async function judgeTogether<Verdict>(
  group: readonly DepositingTransaction[],
  judge: (depositing: DepositingTransaction) => Promise<Verdict>,
): Promise<ReadonlyMap<Hex, Verdict | HeavyVerdict>> {
  const verdicts = new Map<Hex, Verdict | HeavyVerdict>();
  const judgeOne = async (depositing: DepositingTransaction): Promise<void> => {
    verdicts.set(depositing.transaction.hash, await judge(depositing));
  };
  const isAlone = group.length === 1;
  if (!isAlone)
    await Promise.all(group.map(async (depositing) => await judgeOne(depositing).catch(unlessHeavy)));
  for (const depositing of group) {
    const { hash } = depositing.transaction;
    if (!verdicts.has(hash))
      await judgeOne(depositing).catch((error: unknown) =>
        verdicts.set(hash, heavyVerdict(depositing, error)),
      );
  }
  return verdicts;
}

/**
 * Whether oracles can attest the deposits of a mined transaction: they read its receipt, and its deposits fit
 * into their executions. Does not query the node about ordinary transactions of a network that attests in
 * parts. Without `attestation` (no hub is configured) only the size of the receipt counts.
 *
 * @throws RpcFault or NodeRefusal if an answer is too large or too late, see {@link judgeTogether}
 * @throws RpcFault if the node does not answer, or does not have the block
 */
export async function judgeAttestability(
  transport: Node,
  rules: { readonly depository: Address; readonly attestation: AttestationRules | undefined },
  { transaction, block }: DepositingTransaction,
  reads: BlockReads = blockReads(transport, rules.depository),
): Promise<"attestable" | "unattestable"> {
  const { depository, attestation } = rules;
  await requireReadableReceipt(transport, transaction);
  if (attestation === undefined) return "attestable";
  if (!(await isAttestedWhole(reads, attestation, { transaction, block }))) return "attestable";
  const count = await countDeposits(transport, depository, { transaction, block }, reads);
  return count <= MAX_WHOLE_DEPOSITS ? "attestable" : "unattestable";
}

/**
 * Like {@link judgeAttestability}, for a transaction with deposits in a former depository: oracles attest
 * those in one depository only, which the receipt determines.
 *
 * @returns the depository whose deposits oracles attest, or a verdict about all deposits of the transaction
 * @throws RpcFault like {@link judgeAttestability}
 */
export async function findAttestedDepository(
  transport: Node,
  rules: { readonly depositories: Depositories; readonly attestation: AttestationRules | undefined },
  { transaction, block }: DepositingTransaction,
  reads: BlockReads = blockReads(transport, rules.depositories[0]),
): Promise<{ readonly depository: Address } | "unattestable"> {
  const { depositories, attestation } = rules;
  const receipt = await receiptIn(transport, transaction.hash, block.hash);
  const { depository, deposits } = findAttested(depositories, receipt, transaction);
  const hasTooMany =
    attestation !== undefined &&
    deposits.length > MAX_WHOLE_DEPOSITS &&
    (await isAttestedWhole(reads, attestation, { transaction, block }));
  return hasTooMany ? "unattestable" : { depository };
}

function unlessHeavy(error: unknown): void {
  if (!isTooLarge(error) && !isLate(error)) throw error;
}

/** @throws `error`, unless it means that an answer is too large, or that a large one is late */
function heavyVerdict({ transaction: { gasLimit } }: DepositingTransaction, error: unknown): HeavyVerdict {
  if (isTooLarge(error)) return "unattestable";
  // Retrying forever would block all later blocks. But a small receipt is late only if the node has problems.
  const isSurelySmall = gasLimit !== undefined && gasLimit < SURELY_SMALL_GAS;
  if (isLate(error) && !isSurelySmall) return "unknown";
  throw error;
}

/** Whether all deposits of the transaction must fit into one execution, and it may have too many. */
async function isAttestedWhole(
  reads: BlockReads,
  rules: AttestationRules,
  { transaction: { gasLimit }, block }: DepositingTransaction,
): Promise<boolean> {
  if (isAttestedInParts(rules, 0n)) return false;
  if (gasLimit !== undefined && gasLimit < SURELY_ONE_EXECUTION_GAS) return false;
  return rules.depositPartsSince === undefined || !isAttestedInParts(rules, await reads.timestamp(block));
}

/**
 * The reads that the transactions of one block share. Each happens once per block, as long as blocks are
 * judged in sequence.
 */
export interface BlockReads {
  /**
   * Logs about the depository; undefined if they are too large or too late, or the node refuses batches.
   */
  logs(block: DepositingTransaction["block"]): Promise<readonly LogFact[] | undefined>;
  /** Unix seconds. */
  timestamp(block: DepositingTransaction["block"]): Promise<bigint>;
}

export function blockReads(transport: Node, depository: Address): BlockReads {
  const question = {
    filters: depositFilters([depository], undefined),
    // NFT transfers match the filter too, but do not count as deposits.
    accepts: () => true,
  };
  return {
    logs: cacheForOneBlock(async (block) => await logsOf(transport, question, block)),
    timestamp: cacheForOneBlock(async (block) => await timestampOf(transport, block)),
  };
}

/** Caches only the answer about the last block, because it can be large. */
function cacheForOneBlock<T>(read: (block: DepositingTransaction["block"]) => Promise<T>): typeof read {
  let last: { readonly hash: Hex; readonly answer: Promise<T> } | undefined;
  return async (block) => {
    if (last?.hash !== block.hash) last = { hash: block.hash, answer: read(block) };
    return await last.answer;
  };
}

async function timestampOf(
  transport: Pick<RpcTransport, "request">,
  { hash }: DepositingTransaction["block"],
): Promise<bigint> {
  const method = "eth_getBlockByHash";
  const block = readBlock(await transport.request(method, [hash, false]), method);
  if (block?.hash !== hash) throw inconsistent(method, "block of a deposit is missing");
  return block.timestamp;
}

async function logsOf(
  transport: Pick<RpcTransport, "requestBatch">,
  question: LogQuestion,
  block: DepositingTransaction["block"],
): Promise<readonly LogFact[] | undefined> {
  try {
    return await fetchBlockLogs(transport, question, block);
  } catch (error) {
    const isBatchRefused = error instanceof RpcFault && error.kind === "batchRefused";
    if (isBatchRefused || isLate(error) || isTooLarge(error)) return undefined;
    throw error;
  }
}

/**
 * Counts like oracles: transfers of every token. Oracles may count fewer (a token with a fee), never more.
 * Only logs about the depository are requested, so a transaction's other logs do not make the answer large.
 * If other transactions of the block do, the receipt is read.
 */
async function countDeposits(
  transport: Pick<RpcTransport, "request">,
  depository: Address,
  { transaction, block }: DepositingTransaction,
  reads: BlockReads,
): Promise<number> {
  const { hash } = transaction;
  const blockLogs = await reads.logs(block);
  const logs =
    blockLogs === undefined
      ? (await receiptIn(transport, hash, block.hash)).logs
      : blockLogs.filter((log) => log.txHash === hash).toSorted((a, b) => a.logIndex - b.logIndex);
  // The log of the known deposit must be there; otherwise the node has the block, but not its logs yet.
  if (logs.length === 0) throw inconsistent("eth_getLogs", "logs of a deposit are not available yet");
  const question = { depository, tokens: undefined };
  return depositsInLogs(question, logs, new Map([[hash, transaction]])).deposits.length;
}

async function receiptIn(
  transport: Pick<RpcTransport, "request">,
  txHash: Hex,
  blockHash: Hex,
): Promise<ReceiptFact> {
  const method = "eth_getTransactionReceipt";
  const receipt = readReceipt(await transport.request(method, [txHash]), txHash);
  if (receipt?.blockHash !== blockHash)
    throw inconsistent(method, "transaction was reorged out of its block");
  return receipt;
}

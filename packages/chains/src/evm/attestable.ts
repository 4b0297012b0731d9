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
import { attestedIn, type Depositories } from "./watched-deposits.ts";
import { inconsistent, RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/** What of the hub decides how oracles attest deposits. */
export type AttestationRules = Pick<AttestationHub, "depositPartsSince">;

/**
 * A log costs at least this much gas, so a transaction with a lower gas limit has no more logs than one
 * execution holds deposits.
 */
const SURELY_ONE_EXECUTION_GAS = 375n * BigInt(MAX_WHOLE_DEPOSITS + 1);

/** A receipt has about one byte for each gas: that of a transaction with less is read within any deadline. */
const SURELY_SMALL_GAS = 2_000_000n;

/** `unknown`: the node did not answer in time. What follows from it has to be safe either way. */
export type Attestability = "attestable" | "unattestable" | "unknown";

/** A mined transaction with deposits. */
export interface Depositing {
  readonly transaction: TransactionFact;
  readonly block: Pick<BlockRef, "number" | "hash">;
}

type Node = Pick<RpcTransport, "request" | "requestTogether">;

/** What follows from an answer that is too large, or does not come in time. */
type HeavyVerdict = Exclude<Attestability, "attestable">;

/**
 * Judges transactions at the same time. Those for which an answer was too large or late are judged again one
 * by one: together they share the bounds of a batch and the bandwidth, so a large receipt of a stranger must
 * not decide about another transaction.
 *
 * @throws what `judge` throws for another reason, or when the small receipt of an ordinary transaction is
 * late
 */
export async function judgeTogether<Verdict>(
  group: readonly Depositing[],
  judge: (depositing: Depositing) => Promise<Verdict>,
): Promise<ReadonlyMap<Hex, Verdict | HeavyVerdict>> {
  const verdicts = new Map<Hex, Verdict | HeavyVerdict>();
  const judgeOne = async (one: Depositing): Promise<void> => {
    verdicts.set(one.transaction.hash, await judge(one));
  };
  const isAlone = group.length === 1;
  if (!isAlone) await Promise.all(group.map(async (one) => await judgeOne(one).catch(unlessHeavy)));
  for (const one of group) {
    const { hash } = one.transaction;
    if (!verdicts.has(hash))
      await judgeOne(one).catch((error: unknown) => verdicts.set(hash, heavyVerdict(one, error)));
  }
  return verdicts;
}

/**
 * Whether oracles can attest the deposits of a mined transaction: they read its receipt, and its deposits fit
 * into their executions. Asks the node nothing about ordinary transactions of a network that attests in
 * parts. Without `attestation` (no hub is configured) only the size of the receipt counts.
 *
 * @throws RpcFault or NodeRefusal when an answer is too large or late: {@link judgeTogether} says what
 * follows
 * @throws RpcFault when the node does not answer, or does not have the block
 */
export async function judgeAttestability(
  transport: Node,
  rules: { readonly depository: Address; readonly attestation: AttestationRules | undefined },
  { transaction, block }: Depositing,
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
 * As {@link judgeAttestability}, of a transaction with deposits in a former depository: oracles attest those
 * in one depository only, which its receipt decides.
 *
 * @returns the depository whose deposits oracles attest; otherwise what holds for all deposits of the
 * transaction
 * @throws RpcFault as {@link judgeAttestability}
 */
export async function findAttestedDepository(
  transport: Node,
  rules: { readonly depositories: Depositories; readonly attestation: AttestationRules | undefined },
  { transaction, block }: Depositing,
  reads: BlockReads = blockReads(transport, rules.depositories[0]),
): Promise<{ readonly depository: Address } | "unattestable"> {
  const { depositories, attestation } = rules;
  const receipt = await receiptIn(transport, transaction.hash, block.hash);
  const { depository, deposits } = attestedIn(depositories, receipt, transaction);
  const isTooMany =
    attestation !== undefined &&
    deposits.length > MAX_WHOLE_DEPOSITS &&
    (await isAttestedWhole(reads, attestation, { transaction, block }));
  return isTooMany ? "unattestable" : { depository };
}

function unlessHeavy(error: unknown): void {
  if (!isTooLarge(error) && !isLate(error)) throw error;
}

/** @throws `error`, unless an answer is too large, or a large one does not come in time */
function heavyVerdict({ transaction: { gasLimit } }: Depositing, error: unknown): HeavyVerdict {
  if (isTooLarge(error)) return "unattestable";
  // Asking again and again would keep everything behind it from being read. The receipt of an ordinary
  // transaction is small: it does not come because the node is in trouble.
  const isSurelySmall = gasLimit !== undefined && gasLimit < SURELY_SMALL_GAS;
  if (isLate(error) && !isSurelySmall) return "unknown";
  throw error;
}

/** Whether one execution must hold all deposits of the transaction, and the transaction may have too many. */
async function isAttestedWhole(
  reads: BlockReads,
  rules: AttestationRules,
  { transaction: { gasLimit }, block }: Depositing,
): Promise<boolean> {
  if (isAttestedInParts(rules, 0n)) return false;
  if (gasLimit !== undefined && gasLimit < SURELY_ONE_EXECUTION_GAS) return false;
  return rules.depositPartsSince === undefined || !isAttestedInParts(rules, await reads.timestamp(block));
}

/**
 * What the transactions of one block are judged by. It is asked for once for each block while blocks are
 * judged one after the other.
 */
export interface BlockReads {
  /**
   * Logs about the depository; undefined: they are too large, do not come in time, or nothing shows which
   * node answers.
   */
  logs(block: Depositing["block"]): Promise<readonly LogFact[] | undefined>;
  /** Unix seconds. */
  timestamp(block: Depositing["block"]): Promise<bigint>;
}

export function blockReads(transport: Node, depository: Address): BlockReads {
  const question = {
    filters: depositFilters([depository], undefined),
    // A transfer of an NFT passes the filter too; what is no deposit is not counted.
    accepts: () => true,
  };
  return {
    logs: keptForOneBlock(async (block) => await logsOf(transport, question, block)),
    timestamp: keptForOneBlock(async (block) => await timestampOf(transport, block)),
  };
}

/** Keeps the answer about the last block only, for it can be large. */
function keptForOneBlock<T>(read: (block: Depositing["block"]) => Promise<T>): typeof read {
  let last: { readonly hash: Hex; readonly answer: Promise<T> } | undefined;
  return async (block) => {
    if (last?.hash !== block.hash) last = { hash: block.hash, answer: read(block) };
    return await last.answer;
  };
}

async function timestampOf(
  transport: Pick<RpcTransport, "request">,
  { hash }: Depositing["block"],
): Promise<bigint> {
  const method = "eth_getBlockByHash";
  const block = readBlock(await transport.request(method, [hash, false]), method);
  if (block?.hash !== hash) throw inconsistent(method, "block of a deposit is missing");
  return block.timestamp;
}

async function logsOf(
  transport: Pick<RpcTransport, "requestTogether">,
  question: LogQuestion,
  block: Depositing["block"],
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
 * Counts as oracles do: transfers of every token. They may count fewer (a token that takes a fee), never
 * more. Only logs about the depository are asked for, so nothing else that a transaction logs makes the
 * answer large. When other transactions of the block do, the receipt is read.
 */
async function countDeposits(
  transport: Pick<RpcTransport, "request">,
  depository: Address,
  { transaction, block }: Depositing,
  reads: BlockReads,
): Promise<number> {
  const { hash } = transaction;
  const inBlock = await reads.logs(block);
  const logs =
    inBlock === undefined
      ? (await receiptIn(transport, hash, block.hash)).logs
      : inBlock.filter((log) => log.txHash === hash).toSorted((a, b) => a.logIndex - b.logIndex);
  // It has at least the log of the deposit that was seen: a node that knows the block, but not its logs yet,
  // says nothing about their number.
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

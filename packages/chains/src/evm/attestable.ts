import {
  isAttestedInParts,
  MAX_WHOLE_DEPOSITS,
  type Address,
  type AttestationHub,
  type Hex,
} from "@causeway/domain";
import { readBlock, readLogs, readReceipt } from "./answers.ts";
import { depositFilters, depositsInLogs } from "./deposits.ts";
import { isReceiptReadable } from "./receipt-size.ts";
import { isBeyondBounds, isTooLarge } from "./rpc-errors.ts";
import type { LogFact, TransactionFact } from "../family.ts";
import { inconsistent } from "../nodes/rpc-fault.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** What of the hub decides how oracles attest deposits. */
export type AttestationRules = Pick<AttestationHub, "depositPartsSince">;

/** A log costs at least this much gas, so a transaction with a lower gas limit has no more logs than one execution holds deposits. */
const SURELY_ONE_EXECUTION_GAS = 375n * BigInt(MAX_WHOLE_DEPOSITS + 1);

/** A receipt has about one byte for each gas: that of a transaction with less is read within any deadline. */
const SURELY_SMALL_GAS = 2_000_000n;

/**
 * Whether oracles can attest the deposits of a mined transaction: they read its receipt, and its deposits fit into their executions.
 * Asks the node nothing about ordinary transactions of a network that attests in parts.
 * Without `attestation` (no hub is configured) only the size of the receipt counts.
 *
 * @throws RpcFault when the node does not answer, or answers about another block
 */
export async function isAttestable(
  transport: Pick<RpcTransport, "request">,
  rules: { readonly depository: Address; readonly attestation: AttestationRules | undefined },
  transaction: TransactionFact,
  blockHash: Hex,
  blockLogs: BlockLogs = blockLogsAbout(transport, rules.depository),
): Promise<boolean> {
  if (!(await isReceiptReadable(transport, transaction))) return false;
  if (rules.attestation === undefined) return true;
  if (!(await isAttestedWhole(transport, rules.attestation, transaction, blockHash))) return true;
  const count = await countDeposits(transport, rules.depository, transaction, blockHash, blockLogs);
  return count <= MAX_WHOLE_DEPOSITS;
}

/** Whether one execution must hold all deposits of the transaction, and the transaction may have too many. */
async function isAttestedWhole(
  transport: Pick<RpcTransport, "request">,
  rules: AttestationRules,
  { gasLimit }: TransactionFact,
  blockHash: Hex,
): Promise<boolean> {
  if (isAttestedInParts(rules, 0n)) return false;
  if (gasLimit !== undefined && gasLimit < SURELY_ONE_EXECUTION_GAS) return false;
  if (rules.depositPartsSince === undefined) return true;
  const method = "eth_getBlockByHash";
  const block = readBlock(await transport.request(method, [blockHash, false]), method);
  if (block?.hash !== blockHash) throw inconsistent(method, "the block of a deposit is not there");
  return !isAttestedInParts(rules, block.timestamp);
}

/** Logs of a block about a depository; undefined: they are too large, or do not come in time. */
export type BlockLogs = (blockHash: Hex) => Promise<readonly LogFact[] | undefined>;

/** Asks for each block once, however many of its transactions ask. */
export function blockLogsAbout(transport: Pick<RpcTransport, "request">, depository: Address): BlockLogs {
  const asked = new Map<Hex, Promise<readonly LogFact[] | undefined>>();
  return async (blockHash) => {
    const logs = asked.get(blockHash) ?? logsOf(transport, depository, blockHash);
    asked.set(blockHash, logs);
    return await logs;
  };
}

async function logsOf(
  transport: Pick<RpcTransport, "request">,
  depository: Address,
  blockHash: Hex,
): Promise<readonly LogFact[] | undefined> {
  const method = "eth_getLogs";
  try {
    const answers = await Promise.all(
      depositFilters({ depository, tokens: undefined }).map(
        async (filter) => await transport.request(method, [{ blockHash, ...filter }]),
      ),
    );
    const logs = answers.flatMap((answer) => readLogs(answer, method));
    if (logs.some((log) => log.blockHash !== blockHash))
      throw inconsistent(method, "a log is of another block");
    return logs;
  } catch (error) {
    if (isBeyondBounds(error)) return undefined;
    throw error;
  }
}

/**
 * Counts as oracles do: transfers of every token. They may count fewer (a token that takes a fee), never more. Only logs about the depository
 * are asked for, so nothing else that a transaction logs makes the answer large. When other transactions of the block do, the receipt is read.
 */
async function countDeposits(
  transport: Pick<RpcTransport, "request">,
  depository: Address,
  transaction: TransactionFact,
  blockHash: Hex,
  blockLogs: BlockLogs,
): Promise<number> {
  const { hash } = transaction;
  const inBlock = await blockLogs(blockHash);
  try {
    const logs =
      inBlock === undefined
        ? await logsOfReceipt(transport, hash, blockHash)
        : inBlock.filter((log) => log.txHash === hash).toSorted((a, b) => a.logIndex - b.logIndex);
    const question = { depository, tokens: undefined };
    return depositsInLogs(question, logs, new Map([[hash, transaction]])).deposits.length;
  } catch (error) {
    // The receipt of an ordinary transaction is small: it does not come because the node is in trouble.
    const isOrdinary = transaction.gasLimit !== undefined && transaction.gasLimit < SURELY_SMALL_GAS;
    if (isOrdinary ? isTooLarge(error) : isBeyondBounds(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

async function logsOfReceipt(
  transport: Pick<RpcTransport, "request">,
  txHash: Hex,
  blockHash: Hex,
): Promise<readonly LogFact[]> {
  const method = "eth_getTransactionReceipt";
  const receipt = readReceipt(await transport.request(method, [txHash]), txHash);
  if (receipt?.blockHash !== blockHash) throw inconsistent(method, "a transaction left its block");
  return receipt.logs;
}

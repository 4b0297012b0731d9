import {
  isAttestedInParts,
  MAX_WHOLE_DEPOSITS,
  type Address,
  type AttestationHub,
  type Hex,
} from "@causeway/domain";
import { readBlock, readLogs, readReceipt } from "./answers.ts";
import { depositFilters, depositsInLogs, type DepositQuestion } from "./deposits.ts";
import { isReceiptReadable } from "./receipt-size.ts";
import { isTooLarge } from "./rpc-errors.ts";
import type { LogFact, TransactionFact } from "../family.ts";
import { inconsistent } from "../nodes/rpc-fault.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** What of the hub decides how oracles attest deposits. */
export type AttestationRules = Pick<AttestationHub, "depositPartsSince">;

/** A log costs at least this much gas, so a transaction with a lower gas limit has no more logs than one execution holds deposits. */
const SURELY_ONE_EXECUTION_GAS = 375n * BigInt(MAX_WHOLE_DEPOSITS + 1);

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
): Promise<boolean> {
  if (!(await isReceiptReadable(transport, transaction))) return false;
  if (rules.attestation === undefined) return true;
  if (!(await isAttestedWhole(transport, rules.attestation, transaction, blockHash))) return true;
  return (await countDeposits(transport, rules.depository, transaction, blockHash)) <= MAX_WHOLE_DEPOSITS;
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

/**
 * Counts as oracles do: transfers of every token. They may count fewer (a token that takes a fee), never more. Only logs about the depository
 * are asked for, so nothing else that a transaction logs makes the answer large. When other transactions of the block do, the receipt is read.
 */
async function countDeposits(
  transport: Pick<RpcTransport, "request">,
  depository: Address,
  transaction: TransactionFact,
  blockHash: Hex,
): Promise<number> {
  const question = { depository, tokens: undefined };
  try {
    const logs = await logsAbout(transport, question, transaction.hash, blockHash);
    return depositsInLogs(question, logs, new Map([[transaction.hash, transaction]])).deposits.length;
  } catch (error) {
    if (isTooLarge(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

async function logsAbout(
  transport: Pick<RpcTransport, "request">,
  question: DepositQuestion,
  txHash: Hex,
  blockHash: Hex,
): Promise<readonly LogFact[]> {
  const method = "eth_getLogs";
  try {
    const answers = await Promise.all(
      depositFilters(question).map(
        async (filter) => await transport.request(method, [{ blockHash, ...filter }]),
      ),
    );
    const logs = answers.flatMap((answer) => readLogs(answer, method));
    if (logs.some((log) => log.blockHash !== blockHash))
      throw inconsistent(method, "a log is of another block");
    return logs.filter((log) => log.txHash === txHash).toSorted((a, b) => a.logIndex - b.logIndex);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
  }
  const receipt = readReceipt(await transport.request("eth_getTransactionReceipt", [txHash]), txHash);
  if (receipt?.blockHash !== blockHash)
    throw inconsistent("eth_getTransactionReceipt", "a transaction left its block");
  return receipt.logs;
}

import type { Address, Hex, Hex32, TxHash } from "@causeway/domain";
import { final, garbage, type Evidence } from "@causeway/families";
import {
  bytesOf,
  CALL_EXECUTED_TOPIC,
  executionIn,
  readLog,
  toQuantity,
  type BlockRef,
  type WithdrawalPayment,
} from "@causeway/families/evm";
import type { FinalReads } from "./final-reads.ts";
import type { RequestState } from "./request-state.ts";
import { mayPassInParts } from "./rpc-errors.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** Selector of `callRequests(bytes32)`. */
const CALL_REQUESTS: Hex = "0xd52bfcc8";

/**
 * Whether the depository had executed the request as of exactly `block` (EIP-1898: by its hash, so that the
 * node refuses a block that is not canonical).
 *
 * Only `true` or `false` is an answer. A refusal, or the empty answer of an account without code, proves
 * nothing: reading it as "not used" would refund a withdrawal that was paid.
 *
 * @throws RpcFault
 */
async function readCallRequest(
  transport: RpcTransport,
  depository: Address,
  id: Hex32,
  block: Pick<BlockRef, "hash">,
): Promise<boolean> {
  const call = { to: depository, data: `${CALL_REQUESTS}${id.slice(2)}` };
  const blockParam = { blockHash: block.hash, requireCanonical: true };
  const answer = bytesOf(await transport.request("eth_call", [call, blockParam]), "eth_call");
  if (answer === FALSE) return false;
  if (answer === TRUE) return true;
  throw garbage("eth_call", "depository did not report whether it executed the withdrawal request");
}

/** The states of a request at each depository, all at one final block. @throws RpcFault */
export async function finalRequestStates(
  reads: Pick<FinalReads, "block" | "confirm">,
  transport: RpcTransport,
  depositories: readonly Address[],
  id: Hex32,
): Promise<Evidence<readonly RequestState[]>> {
  const finalBlock = await reads.block();
  if (finalBlock.kind !== "final") return finalBlock;
  const block = finalBlock.value;
  const used = await Promise.all(
    depositories.map(async (depository) => await readCallRequest(transport, depository, id, block)),
  );
  await reads.confirm(block);
  const { number: blockNumber, timestamp } = block;
  return final(
    depositories.map((depository, index) => ({
      depository,
      isUsed: used[index] === true,
      blockNumber,
      timestamp,
    })),
  );
}

const FALSE = `0x${"0".repeat(64)}`;
const TRUE = `0x${"0".repeat(63)}1`;

/** The reason if the endpoint's log search did not find the execution; says nothing about the chain. */
export const EXECUTION_NOT_FOUND =
  "request was executed; provide transactionId, so that the token transfer can be verified";

export interface ExecutionSearch {
  readonly depository: Address;
  readonly payment: WithdrawalPayment;
  /** A final block in which the request is used. */
  readonly upTo: bigint;
  readonly lookBackBlocks: bigint;
  /** The transaction that may have executed it. */
  readonly hint: TxHash | undefined;
  /** When to search again if nothing is found. */
  readonly retryAfterSeconds: number;
}

/**
 * Whether a token withdrawal's execution proves that it was paid. A used request only proves that the
 * token did not revert. The transaction is therefore searched, first by the hint, then among the
 * depository's events of the last blocks, and its Transfers are counted, see `executionIn`. Receipts and
 * logs may come from a node that lags behind the one that returned the state, so a missing transaction
 * refutes nothing; only a final receipt does.
 *
 * @throws RpcFault
 */
export async function proveExecution(
  reads: Pick<FinalReads, "transaction">,
  transport: Pick<RpcTransport, "request">,
  search: ExecutionSearch,
): Promise<Evidence<"paid">> {
  let unsettled: Evidence<never> | undefined;
  let hasFinalCandidate = false;
  for await (const hash of executionCandidates(transport, search)) {
    const settled = await reads.transaction(hash);
    if (settled.kind !== "final") {
      unsettled ??= settled;
      continue;
    }
    hasFinalCandidate = true;
    if (settled.value.receipt.status !== "success") continue;
    const execution = executionIn(settled.value.receipt.logs, search.depository, search.payment);
    if (execution === "paid") return { kind: "final", value: "paid" };
    if (execution === "movedNothing")
      return { kind: "refuted", reason: "request was executed, but its token was not transferred" };
  }
  if (unsettled !== undefined) return unsettled;
  if (hasFinalCandidate) return { kind: "refuted", reason: EXECUTION_NOT_FOUND, ofEndpoint: true };
  return { kind: "notFinal", reason: EXECUTION_NOT_FOUND, retryAfterSeconds: search.retryAfterSeconds };
}

async function* executionCandidates(
  transport: Pick<RpcTransport, "request">,
  search: ExecutionSearch,
): AsyncGenerator<TxHash> {
  if (search.hint !== undefined) yield search.hint;
  const hash = await findExecution(transport, search);
  if (hash !== undefined && hash !== search.hint) yield hash;
}

/**
 * The transaction in which the depository reported the request, searched in as many of the last blocks as the
 * node allows at once.
 */
async function findExecution(
  transport: Pick<RpcTransport, "request">,
  search: ExecutionSearch,
): Promise<TxHash | undefined> {
  const method = "eth_getLogs";
  for (let blocks = search.lookBackBlocks; blocks > 0n; blocks /= 4n) {
    const from = search.upTo < blocks ? 0n : search.upTo - blocks + 1n;
    const filter = {
      address: search.depository,
      topics: [CALL_EXECUTED_TOPIC],
      fromBlock: toQuantity(from),
      toBlock: toQuantity(search.upTo),
    };
    try {
      const answer = await transport.request(method, [filter]);
      if (!Array.isArray(answer)) throw garbage(method, "response is not a list");
      const logs = answer.map((log: unknown) => readLog(log, method));
      const execution = logs.find(
        ({ address, topics, data }) =>
          address === search.depository &&
          topics[0] === CALL_EXECUTED_TOPIC &&
          data.slice(2, 66) === search.payment.id.slice(2),
      );
      return execution?.txHash;
    } catch (error) {
      if (!mayPassInParts(error)) throw error;
    }
  }
  return undefined;
}

import {
  explainRevertData,
  NATIVE_CURRENCY,
  plainFailure,
  readUserOperationEvent,
  type Address,
  type FrameLog,
  type KnownAbis,
} from "@causeway/domain";
import {
  bytesOf,
  fieldsOf,
  quantityOf,
  toQuantity,
  type AccountChange,
  type CallEffects,
  type TraceOutcome,
} from "@causeway/families/evm";
import { isMethodMissing, isTracingRefused, simulationOutcomeOf } from "./rpc-errors.ts";
import { garbage, NodeRefusal } from "@causeway/families";
import { readFrameLog } from "./trace-answers.ts";
import { authorizationListOf, transactionOf, type TraceQuestion } from "./trace-question.ts";

/**
 * `eth_simulateV1` reports transfers of the native token as `Transfer(address,address,uint256)` of this
 * address.
 */
const NATIVE_TRANSFERS: Address = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/**
 * Fallback for a node that does not trace: gas by `eth_estimateGas`, only the reason if the call fails, and
 * effects by `eth_simulateV1` if available, which include logs and native transfers, but neither nonces nor
 * codes.
 *
 * @throws RpcFault if the node does not report whether the call succeeds
 */
export async function simulateUntraced(question: TraceQuestion, knownAbis: KnownAbis): Promise<TraceOutcome> {
  const estimated = await estimate(question);
  if (estimated.kind === "insufficientFunds") return estimated;
  const { from, call, ceiling, maxGas } = question;
  const frame = { from, to: call.to, input: call.data, value: call.value };
  if (estimated.kind === "reverts") {
    if (ceiling < maxGas && call.gas === undefined) {
      const unpriced = await estimate(question, false);
      if (unpriced.kind === "ok" && unpriced.gas > ceiling) return { kind: "insufficientFunds" };
    }
    return { kind: "reverts", failure: explainRevertData(frame, estimated, knownAbis) };
  }
  const gas = call.gas ?? estimated.gas;
  const simulated = await simulateOnce(question, gas);
  if (simulated === undefined) {
    return {
      kind: "ok",
      gas,
      gasUsed: estimated.gas,
      effects: { kind: "unseen" },
      calls: undefined,
    };
  }
  if (simulated.kind === "reverts") {
    return { kind: "reverts", failure: explainRevertData(frame, simulated, knownAbis) };
  }
  const { logs, gasUsed } = simulated;
  const operation = logs.map(readUserOperationEvent).find((event) => event?.success === false);
  if (operation !== undefined) {
    const message = `User operation of ${operation.sender} failed`;
    return { kind: "reverts", failure: plainFailure(frame, "USER_OPERATION_FAILED", message, knownAbis) };
  }
  return { kind: "ok", gas, gasUsed, effects: effectsOf(logs), calls: undefined };
}

type Estimated = Extract<ReturnType<typeof simulationOutcomeOf>, object>;

async function estimate(question: TraceQuestion, isPriced = true): Promise<Estimated> {
  const method = "eth_estimateGas";
  const { maxFeePerGas, maxPriorityFeePerGas, ...unpriced } = transactionOf(question);
  const transaction = {
    ...unpriced,
    ...(isPriced && { maxFeePerGas, maxPriorityFeePerGas }),
    ...(isPriced && { gas: toQuantity(question.ceiling) }),
    ...authorizationListOf(question),
  };
  try {
    const answer = await question.request(method, [transaction, toQuantity(question.block.number)]);
    return { kind: "ok", gas: quantityOf(answer, method) };
  } catch (error) {
    const outcome = error instanceof NodeRefusal ? simulationOutcomeOf(error) : undefined;
    if (outcome === undefined) throw error;
    return outcome;
  }
}

type Simulated =
  | { readonly kind: "ok"; readonly logs: readonly FrameLog[]; readonly gasUsed: bigint }
  | { readonly kind: "reverts"; readonly data: `0x${string}`; readonly reason: string };

/** Undefined if the node does not support it. */
async function simulateOnce(question: TraceQuestion, gas: bigint): Promise<Simulated | undefined> {
  const method = "eth_simulateV1";
  const call = { ...transactionOf(question), gas: toQuantity(gas), ...authorizationListOf(question) };
  const simulation = { blockStateCalls: [{ calls: [call] }], traceTransfers: true, validation: false };
  let answer: unknown;
  try {
    answer = await question.request(method, [simulation, toQuantity(question.block.number)]);
  } catch (error) {
    if (error instanceof NodeRefusal && (isMethodMissing(error) || isTracingRefused(error))) return undefined;
    throw error;
  }
  const block: unknown = Array.isArray(answer) ? answer[0] : undefined;
  const calls = fieldsOf(block, method)["calls"];
  const result = fieldsOf(Array.isArray(calls) ? calls[0] : undefined, method);
  const { status, logs, error } = result;
  if (status !== "0x1" && status !== "0x0") throw garbage(method, "status is missing");
  if (status === "0x0") {
    const { message } = typeof error === "object" && error !== null ? (error as { message?: unknown }) : {};
    const reason = typeof message === "string" ? message : "execution reverted";
    return { kind: "reverts", data: bytesOf(result["returnData"], method, "returnData"), reason };
  }
  if (!Array.isArray(logs)) throw garbage(method, "logs are missing");
  return {
    kind: "ok",
    logs: logs.map((log) => readFrameLog(log, method)),
    gasUsed: quantityOf(result["gasUsed"], method, "gasUsed"),
  };
}

function effectsOf(logs: readonly FrameLog[]): CallEffects {
  const accounts = new Map<Address, AccountChange>();
  const move = (word: string | undefined, amount: bigint): void => {
    const account: Address = `0x${(word ?? NATIVE_CURRENCY).slice(-40)}`;
    const before = accounts.get(account);
    const balanceAfter = (before?.balanceAfter ?? 0n) + amount;
    accounts.set(account, {
      balanceBefore: 0n,
      balanceAfter,
      nonceBefore: 0n,
      nonceAfter: 0n,
      codeChanged: false,
    });
  };
  for (const { address, topics, data } of logs) {
    if (address !== NATIVE_TRANSFERS) continue;
    const amount = BigInt(data);
    move(topics[1], -amount);
    move(topics[2], amount);
  }
  return { kind: "seen", logs: logs.filter(({ address }) => address !== NATIVE_TRANSFERS), accounts };
}

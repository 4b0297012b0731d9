import { explainFailure, plainFailure, type Address, type CallFrame, type KnownAbis } from "@causeway/domain";
import type { AccountChange, FeeCaps, TracedCall, TraceOptions, TraceOutcome } from "@causeway/families/evm";
import { traceEmptyCall, authorizationWays } from "./authorization-way.ts";
import { hasSameEffects, gasLimitsToTry } from "./gas-limit.ts";
import { innerCallsOf } from "./inner-calls.ts";
import { isMethodMissing, isTracingRefused, isTypeRefused } from "./rpc-errors.ts";
import { inconsistent, NodeRefusal, RpcFault } from "@causeway/families";
import { logsOf } from "./trace-answers.ts";
import { simulateUntraced } from "./trace-fallback.ts";
import { confirmBlock, prepareTrace, type TraceQuestion } from "./trace-question.ts";
import { nativeFlows } from "./native-flows.ts";
import { runCalls, runChanges, type RunQuestion } from "./trace-run.ts";
import type { RpcTransport } from "../nodes/transport.ts";
import { provesLimit, roundUpGas, createTypicalGasLimits } from "./typical-gas-limits.ts";

export type Trace = (
  from: Address,
  call: TracedCall,
  fees: FeeCaps,
  options?: TraceOptions,
) => Promise<TraceOutcome>;

/** How long after a refusal tracing is tried again, ms: the refusal may be temporary, e.g. by a proxy. */
const TRACING_RETRY_MS = 600_000;

/**
 * Traces calls on one connection and caches what its node supports. Takes three rounds of requests: the
 * newest block and what the sender can pay; the call with plenty of gas, which shows why it fails or how much
 * gas it needs; the call and its state diff with that gas, which must have the same effects. A call whose gas
 * limit is set takes two rounds. A call similar to an earlier one, by a sender with a known native balance,
 * takes one round: if it succeeds with the earlier limit, the limit is proven.
 */
export function createTracer(transport: RpcTransport, chainId: number, knownAbis: KnownAbis): Trace {
  let refusedAtMs: number | undefined;
  const ways = authorizationWays(chainId);
  const limits = createTypicalGasLimits();

  const trace = async (question: TraceQuestion): Promise<TraceOutcome> => {
    const { call, ceiling, maxGas } = question;
    const way = await ways.find(question);
    if (way === "unsupported") return refuseAuthorizations(question, knownAbis);
    const earlyChanges =
      call.gas === undefined ? undefined : storeOutcome(readChanges(question, { gas: call.gas, way }));
    const plenty = await runCalls(question, { gas: ceiling, way });
    if (plenty.kind === "insufficientFunds") return plenty;
    const failure =
      plenty.kind === "gasTooLow"
        ? plainFailure(frameOf(question), "OUT_OF_GAS", "Out of gas", knownAbis)
        : explainFailure(plenty.frame, knownAbis);
    if (plenty.kind === "gasTooLow" || failure !== undefined) {
      if (call.gas === undefined && ceiling < maxGas) {
        // A call that fails with all the gas that the sender can pay for may just need more gas.
        const fundedRun = await runCalls(question, { gas: maxGas, way, isSenderFunded: true });
        const hasSucceeded =
          fundedRun.kind === "ran" && explainFailure(fundedRun.frame, knownAbis) === undefined;
        if (hasSucceeded) return { kind: "insufficientFunds" };
      }
      return failure === undefined ? { kind: "insufficientFunds" } : { kind: "reverts", failure };
    }
    const candidateLimits =
      call.gas === undefined ? gasLimitsToTry(plenty.frame, ceiling).map(roundUpGas) : [ceiling];
    for (const gas of candidateLimits.map((limit) => (limit < ceiling ? limit : ceiling))) {
      const [run, accounts] = await Promise.all([
        call.gas === undefined ? runCalls(question, { gas, way }) : plenty,
        earlyChanges?.then((outcome) => outcome()) ?? readChanges(question, { gas, way }),
      ]);
      if (run.kind !== "ran" || accounts === undefined || !hasSameEffects(plenty.frame, run.frame)) continue;
      if (call.gas === undefined) limits.record(call, gas);
      return okOutcome(run.frame, gas, accounts);
    }
    throw inconsistent("debug_traceCall", "repeated trace of the same call returned a different result");
  };

  /** Traces with the limit of a similar call; undefined if that is inconclusive: a full trace is needed. */
  const traceWithTypicalLimit = async (
    question: RunQuestion,
    { senderBalanceWei, maxGas }: TraceOptions,
  ): Promise<TraceOutcome | undefined> => {
    const { call, fees } = question;
    if (senderBalanceWei === undefined || refusedAtMs !== undefined) return undefined;
    if (call.gas !== undefined || call.authorizationList !== undefined) return undefined;
    const gas = limits.get(call);
    if (gas === undefined || (maxGas !== undefined && gas > maxGas)) return undefined;
    if (senderBalanceWei < call.value + gas * fees.maxFeePerGas) return undefined;
    const run = await runCalls(question, { gas, way: "listed" }).catch(() => undefined);
    if (run?.kind !== "ran" || !provesLimit(run.frame, gas)) return undefined;
    if (explainFailure(run.frame, knownAbis) !== undefined) return undefined;
    return okOutcome(run.frame, gas, nativeFlows(run.frame, run.frame.gasUsed * fees.maxFeePerGas));
  };

  return async (from, call, fees, options = {}) => {
    const request = async (method: string, params: readonly unknown[]): Promise<unknown> =>
      await transport.request(method, params, options);
    const sender = from.toLowerCase() as Address;
    const traced = { from: sender, call: { ...call, to: call.to.toLowerCase() as Address }, fees };
    const typicalOutcome = await traceWithTypicalLimit({ ...traced, request, delegations: [] }, options);
    if (typicalOutcome !== undefined) return typicalOutcome;
    const prepared = await prepareTrace(request, chainId, traced, options, knownAbis);
    if (prepared.kind === "answered") return prepared.outcome;
    const { question } = prepared;
    if (refusedAtMs === undefined || performance.now() - refusedAtMs > TRACING_RETRY_MS) {
      try {
        const outcome = await trace(question);
        refusedAtMs = undefined;
        return outcome;
      } catch (error) {
        if (error instanceof RpcFault && error.kind === "tooLarge") {
          const message = "Call has too many effects to check";
          return {
            kind: "reverts",
            failure: plainFailure(frameOf(question), "TRACE_TOO_LARGE", message, knownAbis),
          };
        }
        if (!(error instanceof NodeRefusal) || !(await isUnableToTrace(error, question))) throw error;
        refusedAtMs = performance.now();
      }
    }
    const untraced = simulateUntraced(question, knownAbis).catch((error: unknown) => {
      const isListRefused =
        question.delegations.length > 0 && error instanceof NodeRefusal && isTypeRefused(error);
      if (isListRefused) return refuseAuthorizations(question, knownAbis);
      throw error;
    });
    const [outcome] = await Promise.all([untraced, confirmBlock(question)]);
    return outcome;
  };
}

function okOutcome(
  frame: CallFrame,
  gas: bigint,
  accounts: ReadonlyMap<Address, AccountChange>,
): TraceOutcome {
  const effects = { kind: "seen", logs: logsOf(frame), accounts } as const;
  return { kind: "ok", gas, gasUsed: frame.gasUsed, effects, calls: innerCallsOf(frame) };
}

/**
 * Whether the node does not trace at all. A refusal of authorizations proves nothing about calls without
 * them: otherwise one caller could disable tracing for all others.
 */
async function isUnableToTrace(refusal: NodeRefusal, question: TraceQuestion): Promise<boolean> {
  if (isMethodMissing(refusal)) return true;
  if (!isTracingRefused(refusal)) return false;
  if (question.delegations.length === 0) return true;
  try {
    await traceEmptyCall(question);
    return false;
  } catch (error) {
    return error instanceof NodeRefusal && (isMethodMissing(error) || isTracingRefused(error));
  }
}

function refuseAuthorizations(question: TraceQuestion, knownAbis: KnownAbis): TraceOutcome {
  const message = "Chain does not support transactions with authorizations (EIP-7702)";
  return {
    kind: "reverts",
    failure: plainFailure(frameOf(question), "AUTHORIZATION_NOT_SUPPORTED", message, knownAbis),
  };
}

/** @throws RpcFault also when the block was replaced in the meantime */
async function readChanges(
  question: TraceQuestion,
  options: Parameters<typeof runChanges>[1],
): Promise<Map<Address, AccountChange> | undefined> {
  const [accounts] = await Promise.all([runChanges(question, options), confirmBlock(question)]);
  return accounts;
}

/** Stores the outcome of `work`, so that a failure before anyone awaits it is not an unhandled rejection. */
async function storeOutcome<T>(work: Promise<T>): Promise<() => T> {
  try {
    const value = await work;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function frameOf({ call }: TraceQuestion): { readonly to: Address; readonly input: `0x${string}` } {
  return { to: call.to, input: call.data };
}

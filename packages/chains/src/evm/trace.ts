import { explainFailure, plainFailure, type Address, type CallFrame, type KnownAbis } from "@causeway/domain";
import type { AccountChange, FeeCaps, TracedCall, TraceOptions, TraceOutcome } from "@causeway/families/evm";
import { askPlainly, authorizationWays } from "./authorization-way.ts";
import { didTheSame, gasLimitsToTry } from "./gas-limit.ts";
import { innerCallsOf } from "./inner-calls.ts";
import { isMethodMissing, isTracingRefused, isTypeRefused } from "./rpc-errors.ts";
import { inconsistent, NodeRefusal, RpcFault } from "@causeway/families";
import { logsOf } from "./trace-answers.ts";
import { simulateUntraced } from "./trace-fallback.ts";
import { confirmBlock, prepareTrace, type TraceQuestion } from "./trace-question.ts";
import { nativeFlows } from "./native-flows.ts";
import { runCalls, runChanges, type RunQuestion } from "./trace-run.ts";
import type { RpcTransport } from "../nodes/transport.ts";
import { provesItsLimit, roundUpGas, typicalGasLimits } from "./typical-gas-limits.ts";

export type Trace = (
  from: Address,
  call: TracedCall,
  fees: FeeCaps,
  options?: TraceOptions,
) => Promise<TraceOutcome>;

/** A refusal to trace may be temporary, e.g. by a proxy; tracing is tried again after this time, ms. */
const ASK_AGAIN_MS = 600_000;

/**
 * Traces calls on one connection and caches what its node supports. Takes three rounds of requests: the
 * newest block and what the sender can pay; the call with plenty of gas, which shows why it fails or how much
 * gas it needs; the call and its state diff with that gas, which must have the same effects. A call whose gas
 * limit is set takes two rounds. A call similar to an earlier one, by a sender with a known native balance,
 * takes one round: if it succeeds with the earlier limit, the limit is proven.
 */
export function createTracer(transport: RpcTransport, chainId: number, known: KnownAbis): Trace {
  let refusedAtMs: number | undefined;
  const ways = authorizationWays(chainId);
  const limits = typicalGasLimits();

  const trace = async (question: TraceQuestion): Promise<TraceOutcome> => {
    const { call, ceiling, maxGas } = question;
    const way = await ways.of(question);
    if (way === "unsupported") return withoutAuthorizations(question, known);
    const changesAtOnce =
      call.gas === undefined ? undefined : settled(readChanges(question, { gas: call.gas, way }));
    const plenty = await runCalls(question, { gas: ceiling, way });
    if (plenty.kind === "insufficientFunds") return plenty;
    const failure =
      plenty.kind === "gasTooLow"
        ? plainFailure(frameOf(question), "OUT_OF_GAS", "Out of gas", known)
        : explainFailure(plenty.frame, known);
    if (plenty.kind === "gasTooLow" || failure !== undefined) {
      if (call.gas === undefined && ceiling < maxGas) {
        // A call that fails with all the gas that the sender can pay for may just need more gas.
        const rich = await runCalls(question, { gas: maxGas, way, rich: true });
        const succeeds = rich.kind === "ran" && explainFailure(rich.frame, known) === undefined;
        if (succeeds) return { kind: "insufficientFunds" };
      }
      return failure === undefined ? { kind: "insufficientFunds" } : { kind: "reverts", failure };
    }
    const tries = call.gas === undefined ? gasLimitsToTry(plenty.frame, ceiling).map(roundUpGas) : [ceiling];
    for (const gas of tries.map((limit) => (limit < ceiling ? limit : ceiling))) {
      const [run, accounts] = await Promise.all([
        call.gas === undefined ? runCalls(question, { gas, way }) : plenty,
        changesAtOnce?.then((end) => end()) ?? readChanges(question, { gas, way }),
      ]);
      if (run.kind !== "ran" || accounts === undefined || !didTheSame(plenty.frame, run.frame)) continue;
      if (call.gas === undefined) limits.remember(call, gas);
      return seen(run.frame, gas, accounts);
    }
    throw inconsistent("debug_traceCall", "repeated trace of the same call returned a different result");
  };

  /** Traces with the limit of a similar call; undefined if that is inconclusive: a full trace is needed. */
  const traceAsUsual = async (
    question: RunQuestion,
    { senderBalanceWei, maxGas }: TraceOptions,
  ): Promise<TraceOutcome | undefined> => {
    const { call, fees } = question;
    if (senderBalanceWei === undefined || refusedAtMs !== undefined) return undefined;
    if (call.gas !== undefined || call.authorizationList !== undefined) return undefined;
    const gas = limits.of(call);
    if (gas === undefined || (maxGas !== undefined && gas > maxGas)) return undefined;
    if (senderBalanceWei < call.value + gas * fees.maxFeePerGas) return undefined;
    const run = await runCalls(question, { gas, way: "listed" }).catch(() => undefined);
    if (run?.kind !== "ran" || !provesItsLimit(run.frame, gas)) return undefined;
    if (explainFailure(run.frame, known) !== undefined) return undefined;
    return seen(run.frame, gas, nativeFlows(run.frame, run.frame.gasUsed * fees.maxFeePerGas));
  };

  return async (from, call, fees, options = {}) => {
    const ask = async (method: string, params: readonly unknown[]): Promise<unknown> =>
      await transport.request(method, params, options);
    const sender = from.toLowerCase() as Address;
    const asked = { from: sender, call: { ...call, to: call.to.toLowerCase() as Address }, fees };
    const usual = await traceAsUsual({ ...asked, ask, delegations: [] }, options);
    if (usual !== undefined) return usual;
    const prepared = await prepareTrace(ask, chainId, asked, options, known);
    if (prepared.kind === "answered") return prepared.outcome;
    const { question } = prepared;
    if (refusedAtMs === undefined || performance.now() - refusedAtMs > ASK_AGAIN_MS) {
      try {
        const outcome = await trace(question);
        refusedAtMs = undefined;
        return outcome;
      } catch (error) {
        if (error instanceof RpcFault && error.kind === "tooLarge") {
          const message = "Call has too many effects to check";
          return {
            kind: "reverts",
            failure: plainFailure(frameOf(question), "TRACE_TOO_LARGE", message, known),
          };
        }
        if (!(error instanceof NodeRefusal) || !(await isUnableToTrace(error, question))) throw error;
        refusedAtMs = performance.now();
      }
    }
    const untraced = simulateUntraced(question, known).catch((error: unknown) => {
      const isList = question.delegations.length > 0 && error instanceof NodeRefusal && isTypeRefused(error);
      if (isList) return withoutAuthorizations(question, known);
      throw error;
    });
    const [outcome] = await Promise.all([untraced, confirmBlock(question)]);
    return outcome;
  };
}

function seen(frame: CallFrame, gas: bigint, accounts: ReadonlyMap<Address, AccountChange>): TraceOutcome {
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
    await askPlainly(question);
    return false;
  } catch (error) {
    return error instanceof NodeRefusal && (isMethodMissing(error) || isTracingRefused(error));
  }
}

function withoutAuthorizations(question: TraceQuestion, known: KnownAbis): TraceOutcome {
  const message = "Chain does not support transactions with authorizations (EIP-7702)";
  return {
    kind: "reverts",
    failure: plainFailure(frameOf(question), "AUTHORIZATION_NOT_SUPPORTED", message, known),
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
async function settled<T>(work: Promise<T>): Promise<() => T> {
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

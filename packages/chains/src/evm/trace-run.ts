import type { Address, CallFrame, Hex } from "@causeway/domain";
import { toQuantity, type AccountChange } from "@causeway/families/evm";
import { isBelowIntrinsicGas, simulationOutcomeOf } from "./rpc-errors.ts";
import { NodeRefusal } from "@causeway/families";
import { readCallFrame, readStateDiff } from "./trace-answers.ts";
import { authorizationListOf, transactionOf, type TraceQuestion } from "./trace-question.ts";

/**
 * How authorizations are passed to the node: as the list itself or, if the node ignores it, as the code that
 * the list would set.
 */
export type AuthorizationWay = "listed" | "overridden";

export type CallsRun = { readonly kind: "ran"; readonly frame: CallFrame } | NotRun;

/** The transaction cannot even start. */
type NotRun =
  | { readonly kind: "insufficientFunds" }
  /** The limit does not cover the intrinsic gas. */
  | { readonly kind: "gasTooLow" };

export interface RunOptions {
  readonly gas: bigint;
  readonly way: AuthorizationWay;
  /** Whether the sender is given enough native tokens for the gas, by a state override. */
  readonly isSenderFunded?: boolean;
}

/** The parts of a question that a run needs. Without a block, the newest block is used. */
export type RunQuestion = Pick<TraceQuestion, "request" | "call" | "fees" | "from" | "delegations"> &
  Partial<Pick<TraceQuestion, "block">>;

/** Intrinsic gas of one authorization (EIP-7702, PER_EMPTY_ACCOUNT_COST). */
const AUTHORIZATION_GAS = 25_000n;

/** The call tree. @throws RpcFault, NodeRefusal if the node does not trace */
export async function runCalls(question: RunQuestion, options: RunOptions): Promise<CallsRun> {
  const tracer = { tracer: "callTracer", tracerConfig: { withLog: true } };
  const result = await run(question, options, tracer);
  if (result.kind !== "ran") return result;
  const frame = readCallFrame(result.answer);
  return { kind: "ran", frame: { ...frame, gasUsed: frame.gasUsed + unlistedGas(question, options) } };
}

/**
 * The accounts before and after; undefined if the transaction cannot even start.
 *
 * @throws RpcFault, NodeRefusal if the node does not trace
 */
export async function runChanges(
  question: TraceQuestion,
  options: RunOptions,
): Promise<Map<Address, AccountChange> | undefined> {
  const tracer = { tracer: "prestateTracer", tracerConfig: { diffMode: true } };
  const result = await run(question, options, tracer);
  if (result.kind !== "ran") return undefined;
  const changes = readStateDiff(result.answer);
  if (options.way === "listed") return changes;
  for (const { authority, nonce } of question.delegations) {
    // The node got the delegations as overrides, so its state diff does not contain the effects of the list.
    const change = changes.get(authority);
    const unchanged = { balanceBefore: 0n, balanceAfter: 0n, nonceAfter: nonce };
    changes.set(authority, { ...unchanged, ...change, nonceBefore: nonce - 1n, codeChanged: true });
  }
  return changes;
}

async function run(
  question: RunQuestion,
  options: RunOptions,
  tracer: object,
): Promise<{ readonly kind: "ran"; readonly answer: unknown } | NotRun> {
  const { request, block, call, fees, from } = question;
  const gas = options.gas - unlistedGas(question, options);
  const transaction = {
    ...transactionOf(question),
    gas: toQuantity(gas > 0n ? gas : 0n),
    ...(options.way === "listed" && authorizationListOf(question)),
  };
  const overrides: Record<Address, { code?: Hex; nonce?: Hex; balance?: Hex }> = {};
  if (options.way === "overridden") {
    for (const { authority, code, nonce } of question.delegations) {
      overrides[authority] = { code, nonce: toQuantity(nonce) };
    }
  }
  if (options.isSenderFunded === true) {
    const balance = call.value + options.gas * fees.maxFeePerGas;
    overrides[from] = { ...overrides[from], balance: toQuantity(balance) };
  }
  const config = { ...tracer, ...(Object.keys(overrides).length > 0 && { stateOverrides: overrides }) };
  try {
    const blockTag = block === undefined ? "latest" : toQuantity(block.number);
    const answer = await request("debug_traceCall", [transaction, blockTag, config]);
    return { kind: "ran", answer };
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    if (isBelowIntrinsicGas(error)) return { kind: "gasTooLow" };
    if (simulationOutcomeOf(error)?.kind === "insufficientFunds") return { kind: "insufficientFunds" };
    throw error;
  }
}

/** The gas that the chain charges for authorizations that were not passed to the node. */
function unlistedGas({ call }: Pick<TraceQuestion, "call">, { way }: RunOptions): bigint {
  return way === "overridden" ? AUTHORIZATION_GAS * BigInt(call.authorizationList?.length ?? 0) : 0n;
}

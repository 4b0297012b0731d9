import type { RequestState, StateName } from "@causeway/domain";

/**
 * Before the deposit, including fast fills: the transaction that makes the deposit is still to be sent, even
 * if the recipient is already paid.
 */
const beforeDeposit: ReadonlySet<StateName> = new Set<StateName>([
  "quoted",
  "accepted",
  "fillable",
  "filling",
  "submitted",
  "filled",
]);

/** Whether an accepted execution of this request is still to be sent. Pure. */
export function awaitsExecution({ kind, name, depositId }: RequestState): boolean {
  if (kind === "call") return name === "accepted";
  return depositId === undefined && beforeDeposit.has(name);
}

/**
 * Whether an execution of this request can be accepted: while it waits for its deposit, or was fast filled
 * without one. Calls that run with the fill are too late once it has started. Pure.
 */
export function acceptsExecution(state: RequestState, hasDestinationCalls: boolean): boolean {
  const { kind, name, front, depositId } = state;
  if (kind !== "bridge" || depositId !== undefined) return false;
  return name === "quoted" || (front !== "none" && !hasDestinationCalls && awaitsExecution(state));
}

/** Whether the request ended unfilled because its execution did not happen. Pure. */
export function isOverWithoutExecution({ name }: RequestState): boolean {
  return name === "expired" || name === "failed";
}

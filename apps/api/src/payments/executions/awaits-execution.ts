import type { RequestState, StateName } from "@causeway/domain";

/**
 * Before the deposit, and where an app vouches for it: then the transaction that makes it is still to be
 * sent, whatever was paid out already.
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
 * Whether an execution of this request can be accepted: while it waits for its deposit, and as long as an app
 * vouches for that. Calls that are to ride along with the fill come too late for one that is under way. Pure.
 */
export function acceptsExecution(state: RequestState, hasCallsBeside: boolean): boolean {
  const { kind, name, front, depositId } = state;
  if (kind !== "bridge" || depositId !== undefined) return false;
  return name === "quoted" || (front !== "none" && !hasCallsBeside && awaitsExecution(state));
}

/** Whether nothing will be filled any more because of an execution that did not happen. Pure. */
export function isOverWithoutExecution({ name }: RequestState): boolean {
  return name === "expired" || name === "failed";
}

import type { RequestState } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { FastFillRecord } from "../balances/fast-fill.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";

/** What a fill is based on; `sinceMs` is when it became available (ms since the epoch). */
export type FillBasis =
  /** A confirmed deposit; `sinceMs` is when it was seen. */
  | { readonly kind: "deposit"; readonly deposit: DepositRecord; readonly sinceMs: number }
  /** A fast fill: pays the promised amount, whether or not the deposit has arrived. */
  | { readonly kind: "front"; readonly promised: FastFillRecord; readonly sinceMs: number };

/** Undefined if the request must not be filled now. */
export async function fillBasisOf(
  services: Pick<Services, "reads">,
  { terms: { requestId }, state }: RequestRecord,
): Promise<FillBasis | undefined> {
  if (state.name !== "fillable") return undefined;
  if (state.front !== "none") {
    const promised = await services.reads.fastFill(requestId);
    if (promised === undefined)
      throw new Error(`invariant violated: fast fill of ${requestId} is not stored`);
    return { kind: "front", promised, sinceMs: promised.acceptedAtMs };
  }
  if (state.depositId === undefined) return undefined;
  const deposit = await services.reads.deposit(state.depositId);
  if (deposit === undefined)
    throw new Error(`invariant violated: deposit ${state.depositId} of ${requestId} is not stored`);
  return { kind: "deposit", deposit, sinceMs: deposit.seenAtMs };
}

/** Whether a request is still to be filled on this basis. */
export function isBasisOf(basis: FillBasis, { name, front, depositId }: RequestState): boolean {
  if (name !== "fillable") return false;
  return basis.kind === "front" ? front !== "none" : front === "none" && depositId === basis.deposit.id;
}

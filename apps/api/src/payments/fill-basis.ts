import type { RequestState } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { FillBasis } from "./planned-fill.port.ts";

/** What the request's fill is paid for; undefined if the request must not be filled now. */
export async function fillBasisOf(
  services: Pick<Services, "reads">,
  { terms: { requestId }, state }: RequestRecord,
): Promise<FillBasis | undefined> {
  if (state.name !== "fillable") return undefined;
  if (state.front !== "none") {
    const fastFill = await services.reads.fastFill(requestId);
    if (fastFill === undefined)
      throw new Error(`invariant violated: fast fill of ${requestId} is not stored`);
    return { kind: "fastFill", fastFill, sinceMs: fastFill.acceptedAtMs };
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
  return basis.kind === "fastFill" ? front !== "none" : front === "none" && depositId === basis.deposit.id;
}

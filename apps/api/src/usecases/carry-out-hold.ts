import { unreachable } from "@causeway/domain";
import type { Effect } from "@causeway/domain";
import type { RequestRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import type { Tx } from "../ports/unit-of-work.ts";
import { makeHoldPermanent, reinstateHold, releaseHold, returnPermanent } from "./app-balance/move-hold.ts";

/** What moving a hold asks for. */
export type HoldServices = Pick<Services, "events" | "clock" | "prices" | "appBalance">;

/** The effects that concern what an app vouches with. */
export type HoldEffect = Extract<
  Effect,
  { readonly kind: "releaseHold" | "reinstateHold" | "debitHold" | "returnHold" }
>;

/**
 * Moves the hold of a request as its transition says, in the same commit.
 * @throws ServiceError PRICE_FETCH_FAILED when a debit cannot be priced now
 */
export async function carryOutHold(
  services: HoldServices,
  tx: Tx,
  { terms: { requestId } }: RequestRecord,
  effect: HoldEffect,
): Promise<void> {
  const moved = await move(services, tx, requestId, effect);
  if (moved === "none")
    services.events.alarm("hold_move_rejected", { requestId, act: effect.kind, state: "none" });
}

function move(
  services: HoldServices,
  tx: Tx,
  requestId: RequestRecord["terms"]["requestId"],
  effect: HoldEffect,
): ReturnType<typeof releaseHold> {
  switch (effect.kind) {
    case "releaseHold":
      return releaseHold(services, tx, requestId);
    case "reinstateHold":
      return reinstateHold(services, tx, requestId);
    case "debitHold":
      return makeHoldPermanent(services, tx, requestId);
    case "returnHold":
      return returnPermanent(services, tx, requestId);
    default:
      return unreachable(effect);
  }
}

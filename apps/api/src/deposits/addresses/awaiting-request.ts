import { isFronted } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { CurrencyAt, DepositAddress } from "./deposit-addresses.port.ts";
import type { RequestRecord } from "../../db/records.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import type { AddressServices } from "./address-services.ts";

/**
 * `waiting`: for its money. `fronted`: the same, and its recipient is paid already. `used`: further money at
 * the address is not for its quote.
 */
export type Standing = "waiting" | "fronted" | "used";

/** The request that money at an address is judged by. */
export interface AwaitingRequest {
  readonly terms: RequestTerms;
  readonly standing: Standing;
}

/**
 * Finds the request that money at an address is for: one that was filled ahead of it, else the one that the
 * address was given out for. A sweep that moved nothing leaves any request of the address waiting again, so a
 * fast fill may have to be covered for a request that superseded the first.
 */
export async function awaitingRequest(
  { reads, depositAddresses }: Pick<AddressServices, "reads" | "depositAddresses">,
  at: DepositAddress,
  funds: CurrencyAt & { readonly amount: bigint },
): Promise<AwaitingRequest> {
  const fronted = await depositAddresses.frontedAt(at.address);
  const records = await Promise.all(fronted.map((requestId) => reads.request(requestId)));
  const uncovered = records.filter((record) => record !== undefined);
  const held = uncovered.filter(({ state }) => state.front === "held");
  const covered =
    held.find(({ terms }) => isMoneyOf(terms, funds) && funds.amount >= terms.origin.amount) ??
    held[0] ??
    // The app has paid: only a payment that is unmistakably the late one counts for it.
    uncovered.find(({ terms }) => isMoneyOf(terms, funds) && funds.amount === terms.origin.amount);
  if (covered !== undefined) return { terms: covered.terms, standing: "fronted" };
  const first = await reads.request(at.requestId);
  if (first === undefined) throw new Error(`invariant violated: no request of deposit address ${at.address}`);
  return {
    terms: first.terms,
    standing: standingOf(first, await depositAddresses.isUsed(at.requestId)),
  };
}

/** How the request stands now; it is locked. */
export async function lockedStanding(
  tx: Pick<Tx, "requests" | "depositAddresses">,
  { terms: { requestId } }: AwaitingRequest,
): Promise<Standing | undefined> {
  const record = await tx.requests.lock(requestId);
  if (record === undefined) return undefined;
  const isUsed =
    (await tx.depositAddresses.supersededBy(requestId)) !== undefined ||
    (await tx.depositAddresses.hasSweep(requestId));
  return standingOf(record, isUsed);
}

function standingOf({ state }: Pick<RequestRecord, "state">, isUsed: boolean): Standing {
  if (isUsed || state.depositId !== undefined) return "used";
  if (isFronted(state)) return "fronted";
  // One that has expired gets its money late; its status then says what becomes of that.
  const isExpired = state.name === "expired" && state.failReason === "TTL_EXPIRED";
  return state.name === "quoted" || isExpired ? "waiting" : "used";
}

function isMoneyOf({ origin }: RequestTerms, { chainId, currency }: CurrencyAt): boolean {
  return origin.chainId === chainId && origin.currency === currency;
}

import { isFronted } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import type { CurrencyAt, DepositAddress } from "./deposit-addresses.port.ts";
import type { RequestRecord } from "../../db/records.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import type { AddressServices } from "./address-services.ts";

/**
 * `waiting`: the request waits for its deposit. `fronted`: it waits too, but its recipient is already paid.
 * `used`: further funds at the address are not for its quote.
 */
export type Standing = "waiting" | "fronted" | "used";

/** The request that decides what funds at an address are for. */
export interface AwaitingRequest {
  readonly terms: RequestTerms;
  readonly standing: Standing;
}

/**
 * Finds the request for funds at an address: one that was fast filled, else the one that the address was
 * issued for. A sweep that moved nothing returns its request to waiting, so a fast fill of a successor may
 * need cover.
 */
export async function awaitingRequest(
  { reads, depositAddresses }: Pick<AddressServices, "reads" | "depositAddresses">,
  depositAddress: DepositAddress,
  funds: CurrencyAt & { readonly amount: bigint },
): Promise<AwaitingRequest> {
  const fronted = await depositAddresses.frontedAt(depositAddress.address);
  const records = await Promise.all(fronted.map((requestId) => reads.request(requestId)));
  const uncovered = records.filter((record) => record !== undefined);
  const withHold = uncovered.filter(({ state }) => state.front === "held");
  const match =
    withHold.find(({ terms }) => isOriginCurrency(terms, funds) && funds.amount >= terms.origin.amount) ??
    withHold[0] ??
    // The app has already paid for the fill: only an exact match counts as the late deposit.
    uncovered.find(({ terms }) => isOriginCurrency(terms, funds) && funds.amount === terms.origin.amount);
  if (match !== undefined) return { terms: match.terms, standing: "fronted" };
  const first = await reads.request(depositAddress.requestId);
  if (first === undefined)
    throw new Error(`invariant violated: no request of deposit address ${depositAddress.address}`);
  return {
    terms: first.terms,
    standing: standingOf(first, await depositAddresses.isUsed(depositAddress.requestId)),
  };
}

/** The current standing of the request, which is locked. */
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

/** Whether a request waits for the deposit of its sweep, and no fast fill relies on it. */
export function awaitsSweep(record: Pick<RequestRecord, "state">): boolean {
  return standingOf(record, false) === "waiting";
}

function standingOf({ state }: Pick<RequestRecord, "state">, isUsed: boolean): Standing {
  if (isUsed || state.depositId !== undefined) return "used";
  if (isFronted(state)) return "fronted";
  // An expired request still accepts its deposit; the status then shows what happens to it.
  const isExpired = state.name === "expired" && state.failReason === "TTL_EXPIRED";
  return state.name === "quoted" || isExpired ? "waiting" : "used";
}

function isOriginCurrency({ origin }: RequestTerms, { chainId, currency }: CurrencyAt): boolean {
  return origin.chainId === chainId && origin.currency === currency;
}

import { appBpsOf, bpsOfUp, isOneAsset, mulDivUp, NATIVE_CURRENCY, pairClassOf } from "@causeway/domain";
import type { Currency, FailReason, RequestTerms } from "@causeway/domain";
import { reserveSponsorship } from "../balances/index.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { fitExposures } from "../markets/index.ts";
import type { Refused } from "./wanted-payment.port.ts";
import type { PlannedFill } from "./planned-fill.port.ts";

/** A fill that is not made now, or never. */
export interface RefusedFill extends Refused {
  readonly reason: FailReason;
  readonly isFinal?: true;
}

export function refusedFill(reason: FailReason, why: string): RefusedFill {
  return { kind: "refused", reason, why };
}

/** The amounts that a fill uses of a sponsor's balance and of the operator's limits. */
export interface FillLimits extends Pick<PlannedFill, "sponsoredUsd" | "burn"> {
  /** By price id, USD with 18 decimals. */
  readonly exposures: ReadonlyMap<string, bigint>;
  /** {@link reserveLimits} reserves nothing: the fill only counts against exposures. */
  readonly hasOnlyExposures: boolean;
}

/** The limits that a fill uses; undefined: none. */
export function limitsOf(
  services: Pick<WorkerServices, "chains">,
  terms: RequestTerms,
  planned: PlannedFill,
): FillLimits | undefined {
  const { sponsoredUsd, burn } = planned;
  const exposures = exposuresOf(services, terms, planned);
  const hasOnlyExposures = terms.sponsorship === undefined && burn.uncoveredUsd === 0n;
  const isPlain = hasOnlyExposures && exposures.size === 0;
  return isPlain ? undefined : { sponsoredUsd, burn, exposures, hasOnlyExposures };
}

/**
 * Which fills of a batch fit this minute's exposure limits on their own. A fill that does not fit would roll
 * back the whole batch at each of its retries. A single fill is checked only when it is counted.
 */
export async function fitLimits(
  services: Pick<WorkerServices, "clock" | "enginePolicy">,
  tx: Pick<Tx, "priceExposure">,
  fills: ReadonlyArray<{ readonly limits: FillLimits | undefined } | undefined>,
): Promise<readonly boolean[]> {
  if (fills.length === 1) return [true];
  const trades = fills.map((fill) => fill?.limits?.exposures ?? new Map<string, bigint>());
  return await fitExposures(services, tx, trades);
}

/** Reserves the sponsor's share. @returns why the fill must not be made */
export async function reserveLimits(
  services: WorkerServices,
  tx: Tx,
  terms: RequestTerms,
  { sponsoredUsd, burn }: FillLimits,
): Promise<RefusedFill | undefined> {
  if (!(await hasRoomForRevert(services, tx, burn)))
    return refusedFill(
      "SOLVER_CAPACITY_EXCEEDED",
      "fills in progress could use up the rest of REVERTED_GAS_DAILY_USD if they revert",
    );
  // The sponsor's whole share is reserved, or the fill is not made.
  const fees = await reserveSponsorship(services, tx, terms, sponsoredUsd);
  if (fees.kind === "reserved") return undefined;
  return { ...refusedFill("SPONSOR_BALANCE_TOO_LOW", fees.why), isFinal: true };
}

/**
 * Whether the fills in progress and this one stay within the daily limit if all of them revert. The first one
 * may exceed it, or no fill could be made.
 */
async function hasRoomForRevert(
  { enginePolicy }: WorkerServices,
  tx: Pick<Tx, "fillBurns">,
  { spentUsd, uncoveredUsd }: PlannedFill["burn"],
): Promise<boolean> {
  if (uncoveredUsd === 0n) return true;
  const underWayUsd = await tx.fillBurns.lockInProgress();
  return underWayUsd === 0n || spentUsd + underWayUsd + uncoveredUsd <= enginePolicy.maxUnpaidRevertedGasUsd;
}

/**
 * The amount that a fill between different assets counts against the limit of each, in USD with 18 decimals
 * by price id; stablecoins too, because they may lose their peg. Includes app fees converted from the
 * deposit, and a gas top-up.
 */
function exposuresOf(
  { chains }: Pick<WorkerServices, "chains">,
  { origin, destination, inputUsd, appFees }: RequestTerms,
  { basis, topupUsd }: Pick<PlannedFill, "basis" | "topupUsd">,
): ReadonlyMap<string, bigint> {
  const exposed = new Map<string, bigint>();
  const deposited = chains.currency(origin.chainId, origin.currency);
  if (deposited === undefined) return exposed;
  // The filled amount, not the quoted one: a partial fast fill must not use up the limit for the whole.
  const input = basis.kind === "fastFill" ? basis.fastFill.inputAmount : basis.deposit.amount;
  const usd = origin.amount === 0n ? inputUsd : mulDivUp(inputUsd, input, origin.amount);
  const paidFrom = chains.currency(destination.chainId, destination.paidFrom ?? destination.currency);
  const feesIn = appFees && chains.currency(appFees.chainId, appFees.currency);
  const expose = (to: Currency | undefined, partUsd: bigint): void => {
    if (to === undefined || isOneAsset(pairClassOf(deposited, to))) return;
    for (const { priceId } of [deposited, to])
      if (partUsd > (exposed.get(priceId) ?? 0n)) exposed.set(priceId, partUsd);
  };
  expose(paidFrom, usd);
  if (topupUsd > 0n) expose(chains.currency(destination.chainId, NATIVE_CURRENCY), topupUsd);
  expose(feesIn, bpsOfUp(usd, appBpsOf(appFees?.fees ?? [])));
  return exposed;
}

import { amountToUsdDown, amountToUsdUp, convertUp } from "@causeway/domain";
import type { Currency, PricedUnit, RequestTerms } from "@causeway/domain";
import type { DepositRecord, RequestRecord, Slot, SlotPlan } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";

const DAY_MS = 24 * 3600 * 1000;

/**
 * The gas cost of fills that reverted in a block although their simulation succeeded. Foreign code can cause
 * that, so the deposit pays, within the order's refund minimum. Fast fills, sponsored calls and gas charged
 * to a sponsor are excluded.
 * @param unit the deposit's currency
 * @returns base units of that currency
 * @throws ServiceError PRICE_FETCH_FAILED
 */
export async function gasUsedByFills(
  { reads, chains, prices }: Pick<Services, "reads" | "chains" | "prices">,
  { terms, state }: Pick<RequestRecord, "terms" | "state">,
  deposit: Pick<DepositRecord, "id">,
  unit: PricedUnit,
): Promise<bigint> {
  if (state.depositId !== deposit.id) return 0n;
  const native = chains.profile(terms.destination.chainId)?.native;
  if (native === undefined) return 0n;
  const [fills, fastFill, execution, sponsoredWei] = await Promise.all([
    reads.revertedSlotsOfLeg("fill", terms.requestId),
    reads.fastFill(terms.requestId),
    reads.execution(terms.requestId),
    reads.sponsoredBurnWei(terms.requestId),
  ]);
  if (execution?.destination !== undefined) return 0n;
  const usedWei = fills
    .filter((slot) => !isPlainTransfer(slot) && slot.id !== fastFill?.revertedGas?.slotId)
    .reduce((sum, { gasUsed = 0n, effectiveGasPrice = 0n }) => sum + gasUsed * effectiveGasPrice, 0n);
  if (usedWei <= sponsoredWei) return 0n;
  const wei = usedWei - sponsoredWei;
  return convertUp(wei, { decimals: native.decimals, priceUsd: await prices.usd(native) }, unit);
}

/**
 * Maximum gas cost of a revert that the solver would pay itself: beyond the sponsor's reservation and the
 * part of the deposit that the order does not promise to refund. USD with 18 decimals.
 * @throws ServiceError PRICE_FETCH_FAILED
 */
export async function uncoveredBurnUsd(
  { chains, prices }: Pick<Services, "chains" | "prices">,
  { order, origin, destination }: RequestTerms,
  deposit: Pick<DepositRecord, "amount">,
  { gasLimit, maxFeePerGas }: Pick<SlotPlan, "gasLimit" | "maxFeePerGas">,
  sponsoredUsd: bigint,
): Promise<bigint> {
  const native = chains.profile(destination.chainId)?.native;
  const deposited = chains.currency(origin.chainId, origin.currency);
  if (native === undefined || deposited === undefined) return 0n;
  const unitOf = async (currency: Currency): Promise<PricedUnit> => ({
    decimals: currency.decimals,
    priceUsd: await prices.usd(currency),
  });
  const burnUsd = amountToUsdUp(gasLimit * maxFeePerGas, await unitOf(native));
  const minimumRefund = order.inputs[0]?.refunds[0]?.minimumAmount ?? deposit.amount;
  const retainable = deposit.amount > minimumRefund ? deposit.amount - minimumRefund : 0n;
  const coveredUsd = amountToUsdDown(retainable, await unitOf(deposited)) + sponsoredUsd;
  return burnUsd > coveredUsd ? burnUsd - coveredUsd : 0n;
}

/** Whether a fill calls only the token that it pays. */
export function isPlainTransfer({ call, outflow }: Pick<Slot, "call" | "outflow">): boolean {
  return call.to === outflow.currency;
}

/**
 * Gas of reverted fills that the solver paid itself within 24 hours, in USD with 18 decimals.
 * @throws ServiceError PRICE_FETCH_FAILED
 */
export async function unpaidRevertedGasUsd({
  reads,
  chains,
  prices,
  clock,
}: Pick<Services, "reads" | "chains" | "prices" | "clock">): Promise<bigint> {
  let usd = 0n;
  for (const { chainId, wei } of await reads.unpaidBurnsSince(clock.nowMs() - DAY_MS)) {
    const native = chains.profile(chainId)?.native;
    if (native === undefined) continue;
    usd += amountToUsdUp(wei, { decimals: native.decimals, priceUsd: await prices.usd(native) });
  }
  return usd;
}

import { convertUp } from "@causeway/domain";
import type { PricedUnit } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";

/**
 * What fills burnt that reverted in a block, of a request whose calls its client chose: they succeeded when they were tried, and whoever chooses calls that do not then would have the
 * solver pay for it. It is kept of the deposit that was to be filled, as far as the order's promise of a refund allows.
 * @param unit the deposit's currency
 * @returns smallest units of that currency
 * @throws ServiceError PRICE_FETCH_FAILED
 */
export async function burntByCalls(
  { reads, chains, prices }: Pick<Services, "reads" | "chains" | "prices">,
  { terms, state }: Pick<RequestRecord, "terms" | "state">,
  deposit: Pick<DepositRecord, "id">,
  unit: PricedUnit,
): Promise<bigint> {
  if (terms.outputCalls === undefined || state.depositId !== deposit.id) return 0n;
  const native = chains.get(terms.destination.chainId)?.chain.native;
  if (native === undefined) return 0n;
  const fills = await reads.revertedSlotsOfLeg("fill", terms.requestId);
  const wei = fills.reduce(
    (sum, { gasUsed = 0n, effectiveGasPrice = 0n }) => sum + gasUsed * effectiveGasPrice,
    0n,
  );
  if (wei === 0n) return 0n;
  return convertUp(wei, { decimals: native.decimals, priceUsd: await prices.usd(native) }, unit);
}

import type { RequestId } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { chargeOrOwe } from "./charge-or-owe.ts";

type ChargeServices = Pick<Services, "clock" | "prices" | "quotePolicy" | "chains" | "appBalance">;

/**
 * Charges the app once for the gas of its reverted fast fill. Without a fresh price, the charge remains due.
 * @throws any error of the database
 */
export async function chargeRevertedFill(
  services: ChargeServices,
  tx: Pick<Tx, "events" | "fastFills" | "ledger">,
  requestId: RequestId,
): Promise<"settled" | "due"> {
  const fastFill = await tx.fastFills.find(requestId);
  if (
    fastFill?.revertedGas === undefined ||
    fastFill.revertedGas.isCharged ||
    fastFill.revertedGas.usd === 0n
  )
    return "settled";
  const { wallet, revertedGas } = fastFill;
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  try {
    const { entries, owedUsd } = chargeOrOwe(services, book, revertedGas.usd, "fees");
    if (owedUsd > 0n) tx.events.alarm("app_balance_owed", { wallet, requestId, owedUsd });
    if (entries.length > 0)
      await tx.ledger.post(
        {
          key: `fast-fill:${requestId}:burnt:${revertedGas.slotId}`,
          context: "pay-fees",
          reason: "gas of a fast fill that reverted",
          wallet,
          requestId,
          entries,
        },
        atMs,
      );
  } catch (error) {
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED") return "due";
    throw error;
  }
  await tx.fastFills.setRevertedGasCharged(requestId);
  return "settled";
}

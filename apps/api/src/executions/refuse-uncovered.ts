import { availableFor } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { appraise } from "../balances/index.ts";
import { insufficient } from "./accept-execution.ts";

/**
 * Refuses a call that the app's balance cannot cover, instead of reporting the executor's lack of funds.
 * Without a fresh price for the balance nothing is refused.
 * @param minUsd minimum cost of the call, in USD with 18 decimals
 * @throws ServiceError INSUFFICIENT_FUNDS, PRICE_FETCH_FAILED
 */
export async function refuseUncovered(
  services: Pick<Services, "appBalance" | "clock" | "prices" | "quotePolicy" | "chains" | "uow">,
  wallet: Address,
  minUsd: bigint,
): Promise<void> {
  const book = await services.uow.run((tx) => tx.ledger.lockWallet(wallet, services.clock.nowMs()));
  const { standing, unpriced } = appraise(services, book);
  const availableUsd = availableFor("sponsorship", standing);
  if (unpriced === undefined && availableUsd < minUsd)
    throw insufficient(wallet, { availableUsd, requiredUsd: minUsd, missing: "balance" });
}

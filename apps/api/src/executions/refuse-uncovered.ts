import { availableFor } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { appraise } from "../balances/index.ts";
import { insufficient } from "./accept-execution.ts";

/**
 * Refuses a call that the app's balance cannot cover. Otherwise, the caller would get the error about the
 * executor's lack of funds. Does not refuse without a fresh price of the balance.
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

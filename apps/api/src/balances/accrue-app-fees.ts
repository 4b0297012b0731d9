import { BPS, appFeeCredits, mergeEntries, mulDivDown, ServiceError } from "@causeway/domain";
import type { FeePrices, RequestTerms } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { spreadBetween } from "../markets/index.ts";
import { unitInMemory } from "./appraise.ts";
import { creditEntries } from "./credit-entries.ts";

type AccrualServices = Pick<Services, "clock" | "prices" | "chains" | "quotePolicy">;
type FeeTerms = Pick<RequestTerms, "requestId" | "appFees" | "origin">;

/**
 * Credits app fees of a deposit to the apps' balances, after repaying their debts in that currency. Movement
 * keys make a retry safe. The caller must have locked the wallets. `unpriced`: a fresh price is missing, and
 * nothing was credited.
 * @param deposited the deposited amount, base units of the origin currency
 */
export async function accrueAppFees(
  services: AccrualServices,
  tx: Pick<Tx, "ledger">,
  { requestId, appFees, origin }: FeeTerms,
  deposited: bigint,
): Promise<"done" | "unpriced"> {
  if (appFees === undefined) return "done";
  const prices = pricesOf(services, appFees, origin);
  if (prices instanceof ServiceError) return "unpriced";
  const atMs = services.clock.nowMs();
  const asset = { chainId: appFees.chainId, currency: appFees.currency };
  for (const { recipient: wallet, amount } of appFeeCredits(appFees, deposited, origin.amount, prices)) {
    // A fee below one base unit of the balance's currency credits nothing.
    if (amount === 0n) continue;
    const book = await tx.ledger.lockWallet(wallet, atMs);
    await tx.ledger.post(
      {
        key: `app-fee:${requestId}:${wallet}`,
        context: "app-fee",
        reason: "app fee of a filled request",
        wallet,
        requestId,
        entries: mergeEntries([
          { account: "custody", asset, amount: -amount },
          ...creditEntries(book, asset, amount),
        ]),
      },
      atMs,
    );
  }
  return "done";
}

/**
 * Undefined if prices do not matter: both currencies are one asset, or one of them is no longer configured.
 * The price of the deposit is reduced by the spread for price age: otherwise, a fee to one's own wallet would
 * be a trade between the two assets without a spread.
 */
function pricesOf(
  services: AccrualServices,
  appFees: NonNullable<RequestTerms["appFees"]>,
  origin: RequestTerms["origin"],
): FeePrices | ServiceError | undefined {
  const from = services.chains.currency(origin.chainId, origin.currency);
  const to = services.chains.currency(appFees.chainId, appFees.currency);
  if (from === undefined || to === undefined || from.priceId === to.priceId) return undefined;
  const [deposited, balance] = [unitInMemory(services, from), unitInMemory(services, to)];
  if (deposited instanceof ServiceError) return deposited;
  if (balance instanceof ServiceError) return balance;
  const spreadBps = spreadBetween(services, from, to);
  if (spreadBps instanceof ServiceError) return spreadBps;
  const keptBps = BPS - BigInt(spreadBps);
  return { deposited: { ...deposited, priceUsd: mulDivDown(deposited.priceUsd, keptBps, BPS) }, balance };
}

import { BPS, dueAppFees, mergeEntries, mulDivDown, ServiceError } from "@causeway/domain";
import type { FeePrices, RequestTerms } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { spreadBetween } from "../markets/prices/quote-pricing.ts";
import { unitInMemory } from "./appraise.ts";
import { creditEntries } from "./credit-entries.ts";

type AccrualServices = Pick<Services, "clock" | "prices" | "chains" | "quotePolicy">;
type FeeTerms = Pick<RequestTerms, "requestId" | "appFees" | "origin">;

/**
 * Credits what apps took of a deposit to their balances: what they owe in that currency first. By movements
 * that have names, so that it happens once however often it is tried. Of several wallets the caller has
 * locked all. `unpriced`: there is no fresh price now, and nothing was credited.
 * @param deposited smallest units of what came
 */
export async function accrueAppFees(
  services: AccrualServices,
  tx: Pick<Tx, "ledger">,
  { requestId, appFees, origin }: FeeTerms,
  deposited: bigint,
): Promise<"done" | "unpriced"> {
  if (appFees === undefined) return "done";
  const now = pricesOf(services, appFees, origin);
  if (now instanceof ServiceError) return "unpriced";
  const atMs = services.clock.nowMs();
  const asset = { chainId: appFees.chainId, currency: appFees.currency };
  for (const { recipient: wallet, amount } of dueAppFees(appFees, deposited, origin.amount, now)) {
    // A fee below the smallest unit of the balance's currency credits nothing.
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
 * Undefined where prices do not matter: both currencies are one asset, or one of them is not known any more.
 * The deposit counts less the spread for the age of both prices: a fee to a wallet of one's own is a trade
 * between the two.
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
  const kept = BPS - BigInt(spreadBps);
  return { deposited: { ...deposited, priceUsd: mulDivDown(deposited.priceUsd, kept, BPS) }, balance };
}

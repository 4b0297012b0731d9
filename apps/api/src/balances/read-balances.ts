import { amountToUsdDown, amountToUsdUp } from "@causeway/domain";
import type { Address, Currency } from "@causeway/domain";
import type { BalanceView, BalancesView, ClaimView } from "./balance-views.port.ts";
import type { BalanceEvent } from "./balance-reads.port.ts";
import type { HoldRecord } from "./ledger.port.ts";
import type { Page, TimeCursor } from "../db/page.port.ts";
import type { Services } from "../db/services.port.ts";
import { lineOf } from "./credit-entries.ts";

type ReadServices = Pick<Services, "balances" | "prices" | "appBalance">;

/**
 * The balances of a wallet, at current prices. An unknown wallet has zero balances.
 * @throws ServiceError PRICE_FETCH_FAILED when a balance or debt has no fresh price
 */
export async function readBalances(services: ReadServices, wallet: Address): Promise<BalancesView> {
  const { balances, appBalance } = services;
  const book = await balances.book(wallet);
  const lines = appBalance.currencies.map((currency) => ({
    currency,
    line: lineOf(book, { chainId: appBalance.chainId, currency: currency.address }),
  }));
  const valued = await Promise.all(
    lines
      .filter(({ line }) => line.balance + line.pending + line.owed > 0n)
      .map(async ({ currency, line }) => {
        const unit = { decimals: currency.decimals, priceUsd: await services.prices.usd(currency) };
        const { balance: amount, pending, owed } = line;
        const view = { currency, amount, pending, owed, usd: amountToUsdDown(amount, unit) };
        return { view, owedUsd: amountToUsdUp(owed, unit) };
      }),
  );
  const views = valued.map(({ view }) => view);
  const netUsd = valued.reduce((sum, { view, owedUsd }) => sum + view.usd - owedUsd, 0n);
  const totalUsd = notBelowZero(netUsd);
  return {
    main: views.find(({ currency }) => currency === appBalance.currencies[0]) ?? zeroBalance(appBalance),
    all: views,
    totalUsd,
    heldUsd: book.heldUsd,
    availableUsd: notBelowZero(netUsd - book.heldUsd),
  };
}

function zeroBalance({ currencies: [currency] }: { readonly currencies: readonly Currency[] }): BalanceView {
  if (currency === undefined) throw new Error("invariant violated: app balances without a currency");
  return { currency, amount: 0n, pending: 0n, owed: 0n, usd: 0n };
}

const notBelowZero = (usd: bigint): bigint => (usd > 0n ? usd : 0n);

/**
 * Signed claims of a wallet, newest first, at current prices.
 * @throws Error for a claim in a currency that is no longer configured
 * @throws ServiceError PRICE_FETCH_FAILED
 */
export async function readClaims(
  services: ReadServices,
  wallet: Address,
  page: Page<TimeCursor>,
): Promise<ClaimView[]> {
  const claims = await services.balances.claims(wallet, page);
  return await Promise.all(
    claims.map(async (claim): Promise<ClaimView> => {
      const currency = services.appBalance.currencies.find(({ address }) => address === claim.currency);
      if (currency === undefined) throw new Error(`claim ${claim.claimId}: its currency is not configured`);
      const unit = { decimals: currency.decimals, priceUsd: await services.prices.usd(currency) };
      return { claim, currency, usd: amountToUsdDown(claim.amount, unit) };
    }),
  );
}

/** Movements of a wallet's app balance, newest first. */
export async function readBalanceEvents(
  { balances }: Pick<Services, "balances">,
  wallet: Address,
  page: Page<string>,
): Promise<BalanceEvent[]> {
  return await balances.events(wallet, page);
}

/** Holds of a wallet, newest first, and the total of the active ones in USD with 18 decimals. */
export async function readHolds(
  { balances }: Pick<Services, "balances">,
  wallet: Address,
  page: Page<TimeCursor>,
): Promise<{ readonly holds: HoldRecord[]; readonly exposureUsd: bigint }> {
  const [holds, book] = await Promise.all([balances.holds(wallet, page), balances.book(wallet)]);
  return { holds, exposureUsd: book.heldUsd };
}

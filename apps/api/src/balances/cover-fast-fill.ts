import {
  amountToUsdDown,
  BPS,
  isFirmAt,
  mergeEntries,
  mulDivDown,
  pairClassOf,
  ServiceError,
  shortfallUsd,
  surplusUnits,
  surplusUsd,
  usdToAmountDown,
} from "@causeway/domain";
import type { Currency, EndPrices, LedgerEntry, PricedUnit, RequestId, RequestTerms } from "@causeway/domain";
import type { FastFillRecord } from "./fast-fill.port.ts";
import type { HoldRecord, WalletBook } from "./ledger.port.ts";
import type { DepositRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { unitInMemory } from "./appraise.ts";
import { chargeOrOwe } from "./charge-or-owe.ts";
import { creditEntries, debitEntries } from "./credit-entries.ts";
import { debitKey, releaseHold, returnPermanent } from "./move-hold.ts";
import { addExposure, spreadOf } from "../markets/index.ts";

export type CoverServices = Pick<
  Services,
  "clock" | "prices" | "quotePolicy" | "enginePolicy" | "appBalance" | "chains"
>;

/**
 * The effect of a deposit on the balance of the app that backed the fast fill, in addition to the effect on
 * the hold.
 */
interface Cover {
  /** Credit for a deposit above the amount that the fill was priced on. */
  readonly surplus: readonly LedgerEntry[];
  /**
   * Part of the surplus above the limit of automatic credits, base units of the origin currency. Not
   * credited.
   */
  readonly beyond: bigint;
  /** Charge for a deposit that is worth less than when the app guaranteed it. */
  readonly shortfall: (book: WalletBook) => readonly LedgerEntry[];
}

/**
 * Settles a fast fill whose deposit is final too: releases the hold or returns the debit, credits a surplus
 * and charges a shortfall. Without a fresh price, nothing is booked, and the hold stays until `bookDueCovers`
 * retries. Idempotent.
 */
export async function coverFastFill(
  services: CoverServices,
  tx: Tx,
  terms: RequestTerms,
  depositId: string,
): Promise<void> {
  const { requestId } = terms;
  const fastFill = await tx.fastFills.find(requestId);
  const deposit = await tx.deposits.lock(depositId);
  if (fastFill === undefined || deposit === undefined)
    throw new Error(`invariant violated: cover of ${requestId} without a fast fill or a deposit`);
  if (fastFill.coverState === "booked") return;
  const { wallet, coverMoves } = fastFill;
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const hold = await tx.ledger.lockHold(requestId);
  if (hold === undefined) throw new Error(`invariant violated: cover of ${requestId} without a hold`);
  const cover = await tryPricing(async () => {
    const priced = await coverOf(services, tx, { terms, fastFill, deposit, hold });
    // Call only to check that the balance can be priced, before anything is counted or moved.
    priced.shortfall(book);
    await countExposure(services, tx, terms, priced.surplus);
    return priced;
  });
  if (cover instanceof ServiceError) {
    tx.events.alarm("fast_fill_cover_waits", { requestId, wallet, why: cover.message });
    await tx.fastFills.setCover(requestId, "due", coverMoves);
    return;
  }
  if (cover.beyond > 0n)
    tx.events.alarm("fast_fill_surplus_kept", {
      requestId,
      wallet,
      currency: terms.origin.currency,
      units: cover.beyond,
    });
  const move = hold.state === "permanent" ? returnPermanent : releaseHold;
  await move(services, tx, requestId);
  const moves = coverMoves + 1;
  const owner = { wallet, requestId };
  const shortfall = cover.shortfall(await tx.ledger.lockWallet(wallet, atMs));
  if (shortfall.length > 0)
    await tx.ledger.post(
      {
        key: coverKey(requestId, "shortfall", moves),
        context: "fast-fill-reduce-balance",
        reason: "the deposit is worth less than when the fast fill was accepted",
        ...owner,
        entries: shortfall,
      },
      atMs,
    );
  const [line] = cover.surplus;
  if (line !== undefined)
    await tx.ledger.post(
      {
        key: coverKey(requestId, "surplus", moves),
        context: "fast-fill-increase-balance",
        reason: "the deposit exceeds the input that the fill was priced on",
        ...owner,
        entries: mergeEntries([
          ...cover.surplus,
          ...creditEntries(await tx.ledger.lockWallet(wallet, atMs), line.asset, -line.amount),
        ]),
      },
      atMs,
    );
  await tx.fastFills.setCover(requestId, "booked", moves);
}

/**
 * Undoes the changes of a deposit that was reorged out after it covered a final fast fill. Funds that were
 * spent since then become a debt. `waited`: nothing had been booked, and the hold is still active.
 */
export async function uncoverFastFill(
  services: CoverServices,
  tx: Tx,
  requestId: RequestId,
): Promise<"undone" | "waited"> {
  const fastFill = await tx.fastFills.find(requestId);
  if (fastFill === undefined || fastFill.coverState === "none") return "undone";
  const { wallet, coverMoves, coverState } = fastFill;
  await tx.fastFills.setCover(requestId, "none", coverMoves);
  if (coverState === "due") return "waited";
  const atMs = services.clock.nowMs();
  for (const part of ["surplus", "shortfall"] as const) {
    const key = coverKey(requestId, part, coverMoves);
    const booked = (await tx.ledger.entriesOf(key)).filter(({ account }) => account === "fronted");
    if (booked.length === 0) continue;
    const book = await tx.ledger.lockWallet(wallet, atMs);
    await tx.ledger.post(
      {
        key: `${key}:undone`,
        context: part === "surplus" ? "fast-fill-reduce-balance" : "fast-fill-increase-balance",
        reason: "the deposit of a fast fill was reorged out",
        wallet,
        requestId,
        entries: mergeEntries(
          booked.flatMap(({ asset, amount }) => [
            { account: "fronted" as const, asset, amount: -amount },
            ...(amount < 0n ? debitEntries(book, asset, -amount) : creditEntries(book, asset, amount)),
          ]),
        ),
      },
      atMs,
    );
  }
  return "undone";
}

function coverKey(requestId: RequestId, part: "surplus" | "shortfall", move: number): string {
  return `fast-fill:${requestId}:${part}:${move}`;
}

interface CoveredFill {
  readonly terms: RequestTerms;
  readonly fastFill: FastFillRecord;
  readonly deposit: DepositRecord;
  readonly hold: HoldRecord;
}

/** @throws ServiceError PRICE_FETCH_FAILED when a required price is missing or stale */
async function coverOf(services: CoverServices, tx: Tx, covering: CoveredFill): Promise<Cover> {
  const { credited, beyond } = unitsOf(covering);
  const surplus = surplusOf(services, covering, credited);
  if (covering.hold.state === "permanent") {
    const unreturned = await unreturnedDebit(services, tx, covering);
    return {
      surplus,
      beyond,
      shortfall: (book) =>
        mergeEntries(
          unreturned.flatMap((entry) => [entry, ...debitEntries(book, entry.asset, entry.amount)]),
        ),
    };
  }
  const usd = missingUsd(services, covering);
  return {
    surplus,
    beyond,
    shortfall: (book) => (usd === 0n ? [] : chargeOrOwe(services, book, usd, "fronted").entries),
  };
}

/**
 * How much less the deposit is worth than its fill, USD with 18 decimals. While the quote is firm, the solver
 * accepts the same price move as for other quotes.
 */
function missingUsd(services: CoverServices, { terms, fastFill, deposit }: CoveredFill): bigint {
  const { amount, prices, toleranceBps } = fastFill;
  if (prices.originUsd === 0n || isOneAsset(services, terms)) return 0n;
  const current = pricesNow(services, terms);
  const accepted = {
    origin: { ...current.origin, priceUsd: prices.originUsd },
    destination: { ...current.destination, priceUsd: prices.destinationUsd },
  };
  return shortfallUsd(amount, accepted, current, isFirmAt(terms, deposit.seenAtMs) ? toleranceBps : 0);
}

/**
 * The part of a debit that is not returned when the deposit arrives after the app was debited. The return is
 * limited to the deposit's current value and to the debited units.
 */
async function unreturnedDebit(
  services: CoverServices,
  tx: Pick<Tx, "ledger">,
  { terms, fastFill, hold }: CoveredFill,
): Promise<LedgerEntry[]> {
  const debited = (await tx.ledger.entriesOf(debitKey(hold.requestId, hold.debits))).filter(
    ({ account }) => account === "fronted",
  );
  if (fastFill.debitedUsd === 0n) return [];
  const depositUsd = amountToUsdDown(fastFill.inputAmount, priceOf(services, terms.origin));
  // The debit may be in other currencies than the deposit: returning them is a trade at current prices.
  const spreadBps = Math.max(
    0,
    ...debited.map(({ asset }) => spreadOf(services, ...pairOf(services, terms.origin, asset))),
  );
  const coveredUsd = lessBps(depositUsd, spreadBps);
  const returnedUsd = coveredUsd < fastFill.debitedUsd ? coveredUsd : fastFill.debitedUsd;
  const worthUsd = worthOf(services, debited);
  if (worthUsd <= returnedUsd) return [];
  return debited
    .map((entry) => ({ ...entry, amount: entry.amount - mulDivDown(entry.amount, returnedUsd, worthUsd) }))
    .filter(({ amount }) => amount > 0n);
}

/** Value of entries at cached prices, USD with 18 decimals. @throws ServiceError PRICE_FETCH_FAILED */
export function worthOf(
  services: Pick<CoverServices, "prices" | "quotePolicy" | "chains">,
  entries: readonly LedgerEntry[],
): bigint {
  return entries.reduce(
    (usd, { asset, amount }) => usd + amountToUsdDown(amount, priceOf(services, asset)),
    0n,
  );
}

/**
 * The counter entry of the surplus credit; empty without a surplus. Values the deposit at the lower of its
 * two prices: at acceptance and now.
 */
function surplusOf(services: CoverServices, covering: CoveredFill, units: bigint): LedgerEntry[] {
  const { terms, fastFill } = covering;
  const { asset } = fastFill.surplus;
  if (units === 0n) return [];
  const amount = isInKind(terms, asset) ? units : convertedSurplus(services, covering, units);
  return amount === 0n ? [] : [{ account: "fronted", asset, amount: -amount }];
}

function unitsOf({
  terms: { origin, surplusToSolver },
  fastFill,
  deposit,
}: CoveredFill): ReturnType<typeof surplusUnits> {
  const isCapped = surplusToSolver === true && deposit.amount > origin.amount;
  return surplusUnits(isCapped ? origin.amount : deposit.amount, origin.amount, fastFill.inputAmount);
}

type Asset = Pick<RequestTerms["origin"], "chainId" | "currency">;

const isInKind = ({ origin }: RequestTerms, { chainId, currency }: Asset): boolean =>
  chainId === origin.chainId && currency === origin.currency;

/**
 * The surplus in the credited asset, minus what a quote between the two assets would charge now. Without the
 * charge, apps could avoid fee and spread by requesting the fill for a low input.
 */
function convertedSurplus(
  services: CoverServices,
  { terms: { origin }, fastFill: { prices, surplus } }: CoveredFill,
  units: bigint,
): bigint {
  const current = priceOf(services, origin);
  const accepted = prices.originUsd === 0n ? current : { ...current, priceUsd: prices.originUsd };
  const pair = pairOf(services, origin, surplus.asset);
  const bps = services.quotePolicy.serviceBps[pairClassOf(...pair)] + spreadOf(services, ...pair);
  return usdToAmountDown(
    lessBps(surplusUsd(units, accepted, current), bps),
    priceOf(services, surplus.asset),
  );
}

const lessBps = (usd: bigint, bps: number): bigint => mulDivDown(usd, BPS - BigInt(bps), BPS);

/**
 * Counts a credit in another asset against the exposure limit of the deposited asset, like the fill of a
 * quote.
 * @throws ServiceError PRICE_FETCH_FAILED when the limit of this minute is used up
 */
async function countExposure(
  services: CoverServices,
  tx: Pick<Tx, "priceExposure">,
  { origin }: RequestTerms,
  surplus: readonly LedgerEntry[],
): Promise<void> {
  const [line] = surplus;
  if (line === undefined) return;
  const [from, to] = pairOf(services, origin, line.asset);
  if (from.priceId === to.priceId) return;
  const usd = amountToUsdDown(-line.amount, priceOf(services, line.asset));
  if (await addExposure(services, tx, from.priceId, usd)) return;
  throw new ServiceError(
    "PRICE_FETCH_FAILED",
    `The limit per minute on trades with ${from.priceId} is used up; try again in the next minute`,
  );
}

/** @throws ServiceError PRICE_FETCH_FAILED when a currency is no longer configured */
function pairOf(
  { chains }: Pick<CoverServices, "chains">,
  from: Asset,
  to: Asset,
): readonly [Currency, Currency] {
  return [configuredCurrency(chains, from), configuredCurrency(chains, to)];
}

function configuredCurrency(chains: CoverServices["chains"], { chainId, currency }: Asset): Currency {
  const configured = chains.currency(chainId, currency);
  if (configured !== undefined) return configured;
  throw new ServiceError("PRICE_FETCH_FAILED", `Currency ${currency} of chain ${chainId} is not configured`);
}

function pricesNow(services: CoverServices, { origin, destination }: RequestTerms): EndPrices {
  return { origin: priceOf(services, origin), destination: priceOf(services, destination) };
}

/** Whether both currencies are one asset, so that its price does not matter. */
function isOneAsset(
  { chains }: Pick<CoverServices, "chains">,
  { origin, destination }: RequestTerms,
): boolean {
  const [from, to] = [origin, destination].map(({ chainId, currency }) => chains.currency(chainId, currency));
  return from !== undefined && from.priceId === to?.priceId;
}

/** @throws ServiceError PRICE_FETCH_FAILED */
export function priceOf(
  services: Pick<CoverServices, "prices" | "quotePolicy" | "chains">,
  asset: Asset,
): PricedUnit {
  const unit = unitInMemory(services, configuredCurrency(services.chains, asset));
  if (unit instanceof ServiceError) throw unit;
  return unit;
}

/**
 * Returns the error of a missing price instead of throwing it: the chain watcher must not wait for prices.
 */
async function tryPricing<T>(work: () => Promise<T>): Promise<T | ServiceError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED") return error;
    throw error;
  }
}

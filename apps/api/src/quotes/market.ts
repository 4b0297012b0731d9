import type { RecipientStanding, TokenBehavior } from "@causeway/chains";
import type { Address, Chain, Currency, Hex, PriceReading } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { AnyConnectedChain } from "../chains/chains.port.ts";
import type { PermitTokens, TokenPermits } from "../chains/permits.port.ts";
import type { RecipientCodes } from "../chains/recipient-codes.port.ts";
import type { TokenQuirks } from "../chains/token-quirks.port.ts";
import type { LiquiditySource, SwapAnswer, SwapQuestion } from "../markets/liquidity/liquidity.port.ts";
import type { PriceBook } from "../markets/prices/price-source.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import { quotedCostOfPaying } from "../payments/index.ts";
import { createFacts, type Facts } from "./facts.ts";

/** The sources of a quote's facts. */
export interface MarketSources {
  readonly prices: PriceBook;
  readonly recipientCodes: RecipientCodes;
  /** Undefined: only configured currencies are known. */
  readonly tokens?: TokenBook | undefined;
  /** Undefined: tokens are not probed. */
  readonly quirks?: TokenQuirks | undefined;
  /** Undefined: swaps are not enabled. */
  readonly liquidity: LiquiditySource;
  /** Undefined: payments by permit are not enabled. */
  readonly permitTokens?: PermitTokens | undefined;
}

/**
 * The facts of one quote about prices, pools, tokens and accounts. Reads look synchronous: within {@link
 * Facts.decide}, a missing fact is fetched and the decision runs again.
 */
export interface Market extends Pick<Facts, "together" | "decide"> {
  /** USD per whole unit, 18 decimals. @throws ServiceError PRICE_FETCH_FAILED */
  usd(currency: Currency): bigint;
  /** The reading of the price that {@link usd} returned, even if the book was refreshed since. */
  reading(currency: Currency): PriceReading | undefined;
  hasCode(chainId: number, account: Address): boolean;
  /** Undefined if no known token has this address. */
  token(chainId: number, address: Address): Currency | undefined;
  /** Undefined: tokens are not probed. */
  behavior(chainId: number, token: Address): TokenBehavior | undefined;
  /** Undefined: tokens are not probed, or the chain did not answer. */
  standing(chainId: number, token: Address, recipient: Address): RecipientStanding;
  /** @throws ServiceError RPC_HTTP_ERROR */
  permitsOf(chain: Chain, currency: Currency): TokenPermits;
  /** The nonce of the owner's next EIP-2612 permit. @throws ServiceError RPC_HTTP_ERROR */
  permitNonce(chain: Chain, currency: Currency, owner: Address): bigint;
  /** The cost of paying this account, in base units of the native token. Undefined: the usual cost. */
  costOfPaying(
    connected: AnyConnectedChain,
    currency: Hex,
    account: Hex,
    field: "originChainId" | "destinationChainId",
  ): bigint | undefined;
  /** Undefined when swaps are not enabled, or no path has the liquidity. */
  swap(question: SwapQuestion, direction: "exactIn" | "exactOut", amount: bigint): SwapAnswer | undefined;
}

/** Create one for each quote. */
export function createMarket({
  prices,
  recipientCodes,
  tokens,
  quirks,
  liquidity,
  permitTokens,
}: MarketSources): Market {
  const facts = createFacts();
  // Every candidate route reads the same few prices.
  const pricesRead = new Map<Currency, PriceWithReading>();
  const price = (currency: Currency): PriceWithReading => {
    const cached = pricesRead.get(currency);
    if (cached !== undefined) return cached;
    const fresh = facts.read(`price ${currencyKey(currency)}`, () => readPrice(prices, currency));
    pricesRead.set(currency, fresh);
    return fresh;
  };
  return {
    together: facts.together,
    decide: facts.decide,
    usd: (currency) => price(currency).usd,
    reading(currency) {
      const { reading, readAtMs } = price(currency);
      if (reading === undefined) return undefined;
      const ageMs = reading.ageMs + performance.now() - readAtMs;
      // A dispute about a price counts as soon as the book knows it, even within this quote.
      const disputedBy = reading.disputedBy ?? prices.reading?.(currency)?.disputedBy;
      return { ...reading, ageMs, ...(disputedBy !== undefined && { disputedBy }) };
    },
    hasCode: (chainId, account) =>
      facts.read(`code ${chainId} ${account}`, () => recipientCodes.hasCode(chainId, account)),
    token: (chainId, address) =>
      tokens && facts.read(`token ${chainId} ${address}`, () => tokens.token(chainId, address)),
    behavior: (chainId, token) =>
      quirks && facts.read(`behavior ${chainId} ${token}`, () => quirks.behavior(chainId, token)),
    standing: (chainId, token, recipient) =>
      quirks &&
      facts.read(`standing ${chainId} ${token} ${recipient}`, () =>
        quirks.recipient(chainId, token, recipient),
      ),
    permitsOf: (chain, currency) =>
      facts.read(`permits ${currencyKey(currency)}`, () =>
        withPermitErrors(chain, async () => await permitTokens?.permitsOf(currency)),
      ) ?? NO_PERMITS,
    permitNonce: (chain, currency, owner) =>
      facts.read(`permit nonce ${currencyKey(currency)} ${owner}`, () =>
        withPermitErrors(chain, async () => await permitTokens?.nonceOf(currency, owner)),
      ) ?? 0n,
    costOfPaying: (connected, currency, account, field) =>
      connected.costOfPaying === undefined
        ? undefined
        : facts.read(`cost ${field} ${currency} ${account}`, () =>
            quotedCostOfPaying(connected, currency, account, field),
          ),
    swap: (question, direction, amount) =>
      facts.read(`${direction} ${amount} ${swapKeyOf(question)}`, () =>
        liquidity[direction](question, amount),
      ),
  };
}

/** A price, and its reading when the price was read. */
interface PriceWithReading {
  readonly usd: bigint;
  readonly reading: PriceReading | undefined;
  /** Milliseconds on the monotonic clock. */
  readonly readAtMs: number;
}

function readPrice(prices: PriceBook, currency: Currency): PriceWithReading | Promise<PriceWithReading> {
  const withReading = (usd: bigint): PriceWithReading => ({
    usd,
    reading: prices.reading?.(currency),
    readAtMs: performance.now(),
  });
  const usd = prices.usd(currency);
  return typeof usd === "bigint" ? withReading(usd) : usd.then(withReading);
}

const NO_PERMITS: TokenPermits = { domain: undefined, eip3009: false, eip2612: false };

async function withPermitErrors<T>({ displayName }: Chain, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw new ServiceError(
      "RPC_HTTP_ERROR",
      `The node of ${displayName} did not return the permit support of the token; try again`,
      { field: "originChainId", cause },
    );
  }
}

function currencyKey({ chainId, address }: Currency): string {
  return `${chainId} ${address}`;
}

/** Cached keys: a quote asks the same question with many amounts. */
const swapKeys = new WeakMap<SwapQuestion, string>();

function swapKeyOf(question: SwapQuestion): string {
  let key = swapKeys.get(question);
  if (key === undefined) {
    const { chainId, tokenIn, tokenOut, included, excluded, maxHops, slippageBps } = question;
    const sources = [included === undefined ? "all" : [...included].join(), [...excluded].join()];
    const limits = [maxHops, question.shouldQueryExternal, slippageBps];
    key = [chainId, tokenIn, tokenOut, ...sources, ...limits].join(" ");
    swapKeys.set(question, key);
  }
  return key;
}

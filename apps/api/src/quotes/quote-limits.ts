import type { ChainProfile, Currency, Hex, PricedUnit, RequestTerms } from "@causeway/domain";
import { amountToUsdDown, formatUsd, pow10, ServiceError, usdToAmountUp } from "@causeway/domain";
import type { RequestEnd } from "../chains/chains.port.ts";
import { withinNodeLimit } from "../db/within-node-limit.ts";
import {
  aboveMaxFill,
  amountText,
  inputOutOfRange,
  insufficientLiquidity,
  restrictedChain,
} from "../http/refusals.ts";
import { isBeyondCap, type RoutePricing } from "../markets/index.ts";
import type { Reservations } from "../markets/quote.port.ts";
import type { QuoteQuestion } from "./quote-question.ts";
import type { Side } from "./sides/side.ts";

/** $0.05, in USD with 18 decimals: smaller swaps on one chain are not worth serving. */
const MIN_SWAP_USD = 50_000_000_000_000_000n;

/**
 * A route as the solver sees it: `originCurrency` is deposited, and the solver pays with
 * `destinationCurrency`.
 */
export interface SolverRoute extends Pick<QuoteQuestion, "origin" | "destination" | "from" | "to"> {
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
}

/**
 * @param trade the deposit, and what the solver needs for the fill
 * @throws ServiceError when the trade exceeds the current limits of this instance or of a chain
 */
export function refuseBeyondLimits(
  reservations: Reservations,
  route: SolverRoute,
  pricing: RoutePricing,
  trade: { readonly input: bigint; readonly expected: bigint },
): void {
  const { origin, destination, from, to, originCurrency, destinationCurrency } = route;
  const { facts } = pricing;
  refuseBeyondCap(origin, trade.input, facts.origin, pricing.originNative, "originChainId");
  refuseBeyondCap(
    destination,
    trade.expected,
    facts.destination,
    facts.destinationNative,
    "destinationChainId",
    facts.topupWei,
  );
  refuseDust(origin, from, originCurrency, trade.input, "a deposit");
  refuseDust(destination, to, destinationCurrency, trade.expected, "a payment");
  if (origin === destination && pricing.pairClass !== "wrap" && pricing.pairClass !== "sameAsset")
    refuseTinySwap(amountToUsdDown(trade.input, facts.origin), {
      unit: facts.origin,
      currency: originCurrency,
    });
  if (trade.input >> from.amountBits !== 0n) throw inputOutOfRange(originCurrency);

  const { maxFillAmount } = destinationCurrency;
  if (maxFillAmount !== undefined && trade.expected > maxFillAmount)
    throw aboveMaxFill(destinationCurrency, maxFillAmount);
  const { native } = destination.chain;
  refuseLargeTopup(native, facts.topupWei);
  const available = availableOf(reservations, destination, destinationCurrency);
  const cost = facts.fillGasCostWei;
  if (destinationCurrency.address === native.address) {
    // The fill pays its own cost from the same balance.
    if (trade.expected + cost > available) throw insufficientLiquidity(destinationCurrency, available - cost);
    return;
  }
  if (trade.expected > available) throw insufficientLiquidity(destinationCurrency, available);
  if (availableOf(reservations, destination, native) < cost)
    throw new ServiceError(
      "INSUFFICIENT_LIQUIDITY",
      `Insufficient liquidity: the solver lacks ${native.symbol} for ${to.fillCostPhrase} on ${destination.chain.displayName}`,
      { field: "destinationChainId" },
    );
}

/** The top-up counts against the limit of the native token, regardless of the output. */
function refuseLargeTopup(native: Currency, topupWei: bigint | undefined): void {
  const { maxFillAmount } = native;
  if (topupWei === undefined || maxFillAmount === undefined || topupWei <= maxFillAmount) return;
  throw new ServiceError(
    "INSUFFICIENT_LIQUIDITY",
    `topupGasAmount must be worth at most ${amountText(maxFillAmount, native)}, but is worth ${amountText(topupWei, native)}`,
    { field: "topupGasAmount", data: { available: maxFillAmount.toString() } },
  );
}

/**
 * @param inputUsd USD with 18 decimals
 * @param input the input currency, if it has a price: the error then names the minimum amount
 * @throws ServiceError AMOUNT_TOO_LOW for a swap on one chain below the minimum
 */
export function refuseTinySwap(
  inputUsd: bigint,
  input?: { readonly unit: PricedUnit; readonly currency: Currency },
): void {
  if (inputUsd >= MIN_SWAP_USD) return;
  // A price too small for its 18 decimals is 0, so no minimum amount can be computed.
  const minimum =
    input === undefined || input.unit.priceUsd === 0n
      ? ""
      : `, which is ${amountText(usdToAmountUp(MIN_SWAP_USD, input.unit), input.currency)}`;
  throw new ServiceError(
    "AMOUNT_TOO_LOW",
    `amount: the input of a swap on one chain must be worth at least $0.05${minimum}, got $${formatUsd(inputUsd)}`,
    { field: "amount" },
  );
}

/**
 * @throws ServiceError ROUTE_TEMPORARILY_RESTRICTED when the chain is partially disabled and the amount is
 * worth more than its cap
 */
export function refuseBeyondCap(
  { chain }: { readonly chain: ChainProfile },
  amount: bigint,
  currency: PricedUnit,
  native: PricedUnit,
  field: string,
  nativeAmount = 0n,
): void {
  if (!isBeyondCap(chain, amount, currency, native, nativeAmount)) return;
  throw restrictedChain(chain, field);
}

function refuseDust(
  { chain }: RequestEnd,
  { minPayment }: Side,
  currency: Currency,
  amount: bigint,
  what: "a deposit" | "a payment",
): void {
  if (amount >= minPayment) return;
  throw new ServiceError(
    "AMOUNT_TOO_LOW",
    `amount: ${what} on ${chain.displayName} must be at least ${amountText(minPayment, currency)}, got ${amount}`,
    { field: "amount", data: { minimumAmount: minPayment.toString() } },
  );
}

function availableOf(
  reservations: Reservations,
  { chain, pulse }: RequestEnd,
  { address }: Currency,
): bigint {
  return pulse.solverBalance(address).amount - reservations.reserved(chain.id, address);
}

/**
 * Asks the chain whether the recipient can receive the amount: only the chain knows what a new account needs.
 * @throws ServiceError AMOUNT_TOO_LOW when a larger amount could be paid, INVALID_RECIPIENT when none could;
 * RPC_HTTP_ERROR when the chain does not answer
 */
export async function refuseUnpayable(
  { destination: { chain }, to, destinationCurrency: currency, recipient }: QuoteQuestion,
  amount: bigint,
): Promise<void> {
  const { refusalOf: askChain } = to;
  if (askChain === undefined) return;
  const refused = await askRefusal(
    { chain, field: "destinationChainId", what: "whether the recipient can be paid" },
    { currency, amount },
    async (payment) => await askChain({ recipient, ...payment }),
  );
  if (refused === undefined) return;
  const { reason, isAboutAmount } = refused;
  throw isAboutAmount
    ? new ServiceError(
        "AMOUNT_TOO_LOW",
        `amount is below what the recipient can receive on ${chain.displayName}: ${reason}`,
        {
          field: "amount",
        },
      )
    : new ServiceError("INVALID_RECIPIENT", `recipient cannot be paid on ${chain.displayName}: ${reason}`, {
        field: "recipient",
      });
}

/**
 * Asks the chain whether the quoted amount can arrive at its deposit address and be swept.
 * @throws ServiceError AMOUNT_TOO_LOW when a larger amount could be, UNSUPPORTED_CURRENCY when none could;
 * RPC_HTTP_ERROR when the chain does not answer
 */
export async function refuseUnsweepable(
  { origin: { chain }, from, originCurrency: currency }: QuoteQuestion,
  { depositAddress, origin: { amount } }: RequestTerms,
): Promise<void> {
  const { addressRefusalOf: askChain } = from;
  if (depositAddress === undefined || askChain === undefined) return;
  const refused = await askRefusal(
    { chain, field: "originChainId", what: "whether a deposit address can be paid" },
    { currency, amount },
    askChain,
  );
  if (refused === undefined) return;
  const { reason, isAboutAmount } = refused;
  const message = `on ${chain.displayName} with useDepositAddress: ${reason}`;
  throw isAboutAmount
    ? new ServiceError("AMOUNT_TOO_LOW", `amount is too low ${message}`, { field: "amount" })
    : new ServiceError(
        "UNSUPPORTED_CURRENCY",
        `originCurrency ${currency.symbol} is not supported ${message}`,
        { field: "originCurrency" },
      );
}

/**
 * Why the chain would refuse an amount, and whether it would accept a larger amount. Undefined: it accepts.
 */
async function askRefusal(
  {
    chain,
    field,
    what,
  }: { readonly chain: RequestEnd["chain"]; readonly field: string; readonly what: string },
  { currency, amount }: { readonly currency: Currency; readonly amount: bigint },
  askChain: (payment: { readonly currency: Hex; readonly amount: bigint }) => Promise<string | undefined>,
): Promise<{ readonly reason: string; readonly isAboutAmount: boolean } | undefined> {
  const refusalOf = async (paid: bigint): Promise<string | undefined> => {
    try {
      const payment = { currency: currency.address, amount: paid };
      return await withinNodeLimit(chain, field, () => askChain(payment));
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError(
        "RPC_HTTP_ERROR",
        `The node of ${chain.displayName} did not return ${what}; try again`,
        {
          field,
          cause,
        },
      );
    }
  };
  const reason = await refusalOf(amount);
  if (reason === undefined) return undefined;
  // If a payment of a thousand whole units is refused too, the reason is not the amount.
  const refusalOfLarger = await refusalOf(amount + 1_000n * pow10(currency.decimals));
  return { reason, isAboutAmount: refusalOfLarger === undefined };
}

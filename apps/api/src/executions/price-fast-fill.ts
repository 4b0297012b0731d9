import { amountToUsdDown, amountToUsdUp, priceInput, minDeposit, usdToAmountDown } from "@causeway/domain";
import type { Hex, PricedUnit, RequestTerms } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { AcceptedPrices, FastFillRecord } from "../balances/fast-fill.port.ts";
import type { Services } from "../db/services.port.ts";
import { unitInMemory } from "../balances/index.ts";
import { refusal } from "../deposits/index.ts";
import { connectedChainOf } from "../http/connected-chain.ts";
import {
  dataFeeCap,
  gasAllowance,
  honorBpsOf,
  isNativeToContract,
  maxGasOfCalls,
  payoutOf,
  priceCap,
} from "../payments/index.ts";
import { doubtOf, gasOf, pricingOf, type RoutePricing } from "../markets/index.ts";
import { fastFillObstacle } from "../quotes/index.ts";

type Needs = Pick<Services, "clock" | "chains" | "prices" | "quotePolicy" | "enginePolicy" | "appBalance">;

/** The amount and the value of a fast fill, at the prices of one moment. */
export interface PricedFastFill {
  /** Base units of the destination's currency; never below the promised minimum. */
  readonly amount: bigint;
  /** The input that the fill was priced for, base units of the origin currency. */
  readonly inputAmount: bigint;
  /** Value of the payout, in USD with 18 decimals, rounded up. */
  readonly fillUsd: bigint;
  /** Maximum cost of the transaction: gas, calls and a rollup's data fee. USD with 18 decimals. */
  readonly costUsd: bigint;
  /** The expected deposit beyond `inputAmount`. */
  readonly surplus: FastFillRecord["surplus"];
  readonly surplusUsd: bigint;
  readonly prices: AcceptedPrices;
  readonly toleranceBps: number;
}

/**
 * Prices a fast fill like the fill of a deposit that arrives now. A lower input buys less, but at least the
 * quoted minimum; the surplus of the deposit then belongs to the app.
 * @throws ServiceError FAST_FILL_REFUSED if the request cannot be fast filled; PRICE_FETCH_FAILED,
 * RPC_HTTP_ERROR if a price or the chain is unavailable
 */
export async function priceFastFill(
  services: Needs,
  terms: RequestTerms,
  input: bigint | undefined,
): Promise<PricedFastFill> {
  const { requestId } = terms;
  // A swap before the deposit may yield more, but only its minimum is guaranteed.
  const guaranteedDeposit = minDeposit(terms);
  const inputAmount = input ?? guaranteedDeposit;
  if (inputAmount > guaranteedDeposit || inputAmount === 0n)
    throw refusal(
      "inputAboveQuote",
      requestId,
      `solverInputCurrencyAmount must be from 1 to ${guaranteedDeposit}, the guaranteed deposit, got ${inputAmount}`,
      { quotedAmount: guaranteedDeposit.toString() },
    );
  const from = connectedChainOf(services.chains, terms.origin.chainId);
  const to = connectedChainOf(services.chains, terms.destination.chainId);
  const obstacle = from === undefined || to === undefined ? undefined : fastFillObstacle(from, to);
  if (obstacle !== undefined)
    throw refusal("slowChain", requestId, `The request cannot be fast filled: ${obstacle}`);
  const destination = services.chains.get(terms.destination.chainId);
  const originCurrency = services.chains.currency(terms.origin.chainId, terms.origin.currency);
  const destinationCurrency = services.chains.currency(terms.destination.chainId, terms.destination.currency);
  if (!from || !destination || !originCurrency || !destinationCurrency)
    throw refusal(
      "currencyNotConfigured",
      requestId,
      "A chain or currency of the request is no longer configured",
    );
  const toContract = await isNativeToContract(destination, destinationCurrency.address, terms.recipient);
  const pricing = await pricingOf(
    services,
    { origin: from, destination, originCurrency, destinationCurrency },
    toContract,
    terms.originGasUsd,
    { pairClass: terms.pairClass, callsGas: terms.outputCalls?.gas },
  );
  // Between currencies of one asset, the price does not affect the quote, but it determines the hold.
  const priceProblem = doubtOf(services, destinationCurrency);
  if (priceProblem !== undefined) throw priceProblem;
  const amount = amountFor(services, terms, inputAmount, pricing);
  const { facts } = pricing;
  const surplus = terms.origin.amount - inputAmount;
  return {
    amount,
    inputAmount,
    fillUsd: amountToUsdUp(amount, facts.destination),
    costUsd: await costOf(services, destination, { terms, toContract, native: facts.destinationNative }),
    surplus: surplusOf(services, terms, surplus, facts.origin),
    surplusUsd: amountToUsdUp(surplus, facts.origin),
    prices: {
      originUsd: facts.origin.priceUsd,
      destinationUsd: facts.destination.priceUsd,
      nativeUsd: facts.destinationNative.priceUsd,
    },
    toleranceBps: honorBpsOf(services, terms, pricing),
  };
}

/** Bytes of a fill's transaction without its calls. */
const FILL_BYTES = 600;
/** Transactions are sent with this much more gas than their simulation used. */
const GAS_HEADROOM_BPS = 3_000n;

/**
 * Maximum cost of the fill in addition to its amount, USD with 18 decimals. No fill is sent with more gas:
 * see `gasAllowance` and `maxGasOfCalls`.
 * @throws RpcFault
 */
async function costOf(
  services: Needs,
  { chain, connection, pulse }: ConnectedChain,
  {
    terms: { destination, outputCalls },
    toContract,
    native,
  }: { readonly terms: RequestTerms; readonly toContract: boolean; readonly native: PricedUnit },
): Promise<bigint> {
  const currency = services.chains.currency(destination.chainId, destination.currency);
  const { fill, swapFill } = services.quotePolicy.gas;
  const plainGas = currency === undefined ? swapFill : gasOf(fill, currency, toContract);
  const maxGas =
    outputCalls === undefined
      ? gasAllowance({ chain, pulse }, plainGas, native)
      : maxGasOfCalls(services, outputCalls);
  const gas = maxGas + (maxGas * GAS_HEADROOM_BPS) / 10_000n;
  const calls = outputCalls?.calls ?? [];
  const bytes = calls.reduce((sum, { data }) => sum + data.length / 2, FILL_BYTES);
  // Not zeros: incompressible bytes cost the most.
  const data: Hex = `0x${"a7".repeat(Math.ceil(bytes))}`;
  const dataWei = await connection.reader.dataFee({ to: chain.contracts.router, data, value: 0n });
  const cap = priceCap(pulse.gasPrices(), chain);
  return amountToUsdUp(gas * cap + dataFeeCap(dataWei), native);
}

function amountFor(services: Needs, terms: RequestTerms, inputAmount: bigint, pricing: RoutePricing): bigint {
  const { minimumAmount, expectedAmount } = terms.destination;
  const belowMinimum = (amount: bigint) =>
    refusal(
      "belowMinimum",
      terms.requestId,
      `The fill would pay ${amount} base units, less than the quoted minimum of ${minimumAmount}`,
      {
        amount: amount.toString(),
        minimumAmount: minimumAmount.toString(),
      },
    );
  if (inputAmount === minDeposit(terms)) {
    const nowMs = services.clock.nowMs();
    const payout = payoutOf(services, terms, inputAmount, pricing, { nowMs, depositSeenAtMs: nowMs });
    if (payout.kind === "refund") throw belowMinimum(priceInput(inputAmount, pricing.facts).output);
    return payout.amount;
  }
  // The quoted output applies to the quoted input; a lower input buys at current prices.
  const { output } = priceInput(inputAmount, pricing.facts);
  const amount = output < expectedAmount ? output : expectedAmount;
  if (amount < minimumAmount || amount === 0n) throw belowMinimum(amount);
  return amount;
}

/** The surplus in the input currency if app balances accept it, otherwise in their first currency. */
function surplusOf(
  services: Needs,
  { origin }: RequestTerms,
  amount: bigint,
  unit: PricedUnit,
): PricedFastFill["surplus"] {
  const { chainId, currencies } = services.appBalance;
  if (origin.chainId === chainId && currencies.some(({ address }) => address === origin.currency))
    return { asset: { chainId, currency: origin.currency }, amount };
  const [first] = currencies;
  if (first === undefined || amount === 0n)
    return { asset: { chainId, currency: first?.address ?? origin.currency }, amount: 0n };
  const firstUnit = unitInMemory(services, first);
  if (firstUnit instanceof Error) throw firstUnit;
  return {
    asset: { chainId, currency: first.address },
    amount: usdToAmountDown(amountToUsdDown(amount, unit), firstUnit),
  };
}

import { pow10, ServiceError, type Address, type Currency } from "@causeway/domain";
import { parseAccount, parseCurrency } from "@causeway/families";
import type { RouteConfigAnswer } from "@causeway/wire";
import type { ChainDirectory, AnyConnectedChain } from "../chains/chains.port.ts";
import type { LiquiditySource } from "../markets/liquidity/liquidity.port.ts";
import { costWithMargin } from "../markets/index.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import type { Reservations } from "../markets/quote.port.ts";
import { freeBalance } from "./chain-liquidity.ts";
import { findEnd } from "./find-chain.ts";
import { balanceUnavailable } from "../http/refusals.ts";

export interface RouteConfigQuestion {
  readonly originChainId: number;
  readonly destinationChainId: number;
  readonly user: string | undefined;
  /** Id, symbol or address; undefined: the native currency. */
  readonly currency: string | undefined;
}

export interface RouteConfigServices {
  readonly chains: ChainDirectory;
  readonly reservations: Reservations;
  readonly quotePolicy: Pick<QuotePolicy, "gas">;
  readonly solver: Address;
  readonly liquidity: Pick<LiquiditySource, "sources">;
}

/**
 * The maximum that one request can bridge of a currency between two chains now; not a guarantee.
 * @throws ServiceError UNSUPPORTED_CHAIN, UNSUPPORTED_CURRENCY, INVALID_ADDRESS, RPC_HTTP_ERROR
 */
export async function routeConfig(
  { chains, reservations, quotePolicy, solver, liquidity }: RouteConfigServices,
  question: RouteConfigQuestion,
): Promise<RouteConfigAnswer> {
  const origin = findEnd(chains, question.originChainId, "originChainId");
  const destination = findEnd(chains, question.destinationChainId, "destinationChainId");
  const currency = currencyOf(origin, question.currency);
  const counterpart = [destination.chain.native, ...destination.chain.tokens].find(
    ({ id, supportsBridging }) => id === currency.id && supportsBridging,
  );
  const enabled =
    counterpart !== undefined &&
    currency.supportsBridging &&
    origin !== destination &&
    !origin.chain.disabled &&
    !destination.chain.disabled &&
    destination.chain.depositEnabled;
  const balance = question.user === undefined ? 0n : await balanceOf(origin, currency, question.user);
  const free = counterpart === undefined ? 0n : freeBalance(reservations, destination, counterpart);
  const capacity = enabled ? capacityOf(quotePolicy, destination, counterpart, free) : 0n;
  const maxAmount = counterpart === undefined ? 0n : inUnitsOf(currency, capacity, counterpart);
  return {
    enabled,
    user: {
      balance: balance.toString(),
      maxBridgeAmount: (maxAmount < balance ? maxAmount : balance).toString(),
    },
    solver: { address: solver, balance: free.toString(), capacityPerRequest: capacity.toString() },
    supportsExternalLiquidity: [origin, destination].some(({ chain }) =>
      hasExternalSources(chain, liquidity),
    ),
  };
}

/** Whether external services are asked for swaps on this chain, in addition to its pools. */
function hasExternalSources(
  { id, liquidity: pooled }: AnyConnectedChain["chain"],
  liquidity: RouteConfigServices["liquidity"],
): boolean {
  const pools = new Set(pooled?.sources.map(({ name }) => name));
  return liquidity.sources(id).some((name) => !pools.has(name));
}

/** @throws ServiceError UNSUPPORTED_CURRENCY */
function currencyOf({ chain }: AnyConnectedChain, text: string | undefined): Currency {
  if (text === undefined) return chain.native;
  const name = text.toLowerCase();
  const parsed = parseCurrency(chain, text);
  const currencies = [chain.native, ...chain.tokens];
  const currency =
    currencies.find(({ address }) => address === parsed) ??
    currencies.find(({ id }) => id.toLowerCase() === name) ??
    currencies.find(({ symbol }) => symbol.toLowerCase() === name);
  if (currency !== undefined) return currency;
  throw new ServiceError(
    "UNSUPPORTED_CURRENCY",
    `Currency ${text} is not supported on ${chain.displayName}`,
    {
      field: "currency",
    },
  );
}

async function balanceOf(
  { chain, users }: AnyConnectedChain,
  currency: Currency,
  text: string,
): Promise<bigint> {
  const user = parseAccount(chain, text, "user");
  try {
    return (await users?.balance(user, currency.address)) ?? 0n;
  } catch (cause) {
    throw balanceUnavailable(chain, cause);
  }
}

/** The maximum of one fill. A native fill pays its gas from the same balance. */
function capacityOf(
  { gas }: Pick<QuotePolicy, "gas">,
  connected: AnyConnectedChain,
  currency: Currency,
  free: bigint,
): bigint {
  const gasWei =
    currency.address === connected.chain.native.address
      ? costWithMargin(connected, currency, gas.fill.nativeToContract)
      : 0n;
  const payable = free > gasWei ? free - gasWei : 0n;
  const { maxFillAmount } = currency;
  return maxFillAmount !== undefined && maxFillAmount < payable ? maxFillAmount : payable;
}

/** Converts an amount of `source` to the base units of the same asset on another chain, rounded down. */
function inUnitsOf(target: Currency, amount: bigint, source: Currency): bigint {
  return (amount * pow10(target.decimals)) / pow10(source.decimals);
}

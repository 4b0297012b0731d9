import type { Address, Currency } from "@causeway/domain";
import { BPS, divUp, gasCostWei, parseAccount, parseCurrency, pow10, ServiceError } from "@causeway/domain";
import type { RouteConfigAnswer } from "@causeway/wire";
import type { ChainDirectory, RequestEnd } from "../chains/chains.port.ts";
import type { LiquiditySource } from "../markets/liquidity/liquidity.port.ts";
import type { QuotePolicy } from "../markets/quote-policy.port.ts";
import type { Reservations } from "../markets/quote.port.ts";
import { freeBalance } from "./chain-liquidity.ts";
import { isNonEvm } from "../http/request-end.ts";
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
  /** Undefined: no swaps. */
  readonly liquidity?: Pick<LiquiditySource, "sources"> | undefined;
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
  chain: RequestEnd["chain"],
  liquidity: RouteConfigServices["liquidity"],
): boolean {
  if (chain.vmType !== "evm") return false;
  const { id, liquidity: own } = chain;
  const pools = new Set(own?.sources.map(({ name }) => name));
  return liquidity?.sources(id).some((name) => !pools.has(name)) ?? false;
}

/** @throws ServiceError UNSUPPORTED_CURRENCY */
function currencyOf({ chain }: RequestEnd, word: string | undefined): Currency {
  if (word === undefined) return chain.native;
  const wanted = word.toLowerCase();
  const named = parseCurrency(chain, word);
  const all = [chain.native, ...chain.tokens];
  const found =
    all.find(({ address }) => address === named) ??
    all.find(({ id }) => id.toLowerCase() === wanted) ??
    all.find(({ symbol }) => symbol.toLowerCase() === wanted);
  if (found !== undefined) return found;
  throw new ServiceError(
    "UNSUPPORTED_CURRENCY",
    `Currency ${word} is not supported on ${chain.displayName}`,
    {
      field: "currency",
    },
  );
}

async function balanceOf(end: RequestEnd, currency: Currency, text: string): Promise<bigint> {
  const { chain } = end;
  const user = parseAccount(chain, text, "user");
  try {
    if (isNonEvm(end)) return (await end.users?.balance(user, currency.address)) ?? 0n;
    const { chain: evm, connection } = end;
    const state = await connection.reader.accountState(user, currency.address, evm.contracts.depository);
    return state.balance;
  } catch (cause) {
    throw balanceUnavailable(chain, cause);
  }
}

/** The maximum of one fill: a native one pays its own gas from the same balance. */
function capacityOf(
  { gas }: Pick<QuotePolicy, "gas">,
  end: RequestEnd,
  currency: Currency,
  free: bigint,
): bigint {
  const gasWei = currency.address === end.chain.native.address ? paymentCost(gas, end, currency) : 0n;
  const left = free > gasWei ? free - gasWei : 0n;
  const { maxFillAmount } = currency;
  return maxFillAmount !== undefined && maxFillAmount < left ? maxFillAmount : left;
}

/** Cost of one payment of native tokens, base units, with a margin for price moves. */
function paymentCost({ fill }: QuotePolicy["gas"], end: RequestEnd, { address }: Currency): bigint {
  if (isNonEvm(end))
    return divUp(end.pulse.paymentCost(address) * (BPS + BigInt(end.chain.fees.gasMarginBps)), BPS);
  const { minPriorityFeeWei, gasMarginBps } = end.chain.fees;
  return gasCostWei(fill.nativeToContract, end.pulse.gasPrices(), minPriorityFeeWei, gasMarginBps);
}

/** Converts an amount to the asset's base units on another chain, rounded down. */
function inUnitsOf(wanted: Currency, amount: bigint, given: Currency): bigint {
  return (amount * pow10(wanted.decimals)) / pow10(given.decimals);
}

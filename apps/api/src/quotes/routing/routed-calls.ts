import type { Address, Chain, Currency, OrderId, RequestId, RouterCall, RouterJob } from "@causeway/domain";
import { multicallCalldata, NATIVE_CURRENCY, pullAndRouteCalldata, routerCalls } from "@causeway/domain";
import type { SwapBound } from "../../markets/liquidity/liquidity.port.ts";
import type { Swapped } from "./exchanges.ts";

/** An exchange as the router is to make it. */
export interface RoutedExchange {
  readonly chain: Chain;
  readonly user: Address;
  /** What the user pays with, and how much of it is taken; what is not needed comes back to him. */
  readonly paid: Currency;
  readonly pulled: bigint;
  readonly swapped: Swapped;
  /** What comes out. */
  readonly received: Currency;
  /** Least of it that must come. */
  readonly minimum: bigint;
}

/**
 * The user's transaction. A token is pulled by the approval proxy, which it must be approved to; native coin
 * comes with the transaction.
 */
export interface RoutedTransaction {
  readonly to: Address;
  readonly data: RouterCall["data"];
}

/**
 * Exchanges what the user pays and deposits all that comes out, for him and under the order's id. Too little,
 * and nothing happens at all. Tokens that call back their receiver (ERC-777) must not be routed: while the
 * proxy pulls them the router is open to others.
 */
export function exchangeAndDeposit(exchange: RoutedExchange, orderId: OrderId): RoutedTransaction {
  return routed(exchange, depositCalls(exchange, orderId));
}

/** What the router does for {@link exchangeAndDeposit} with what it was given. */
export function depositCalls(exchange: RoutedExchange, orderId: OrderId): readonly RouterCall[] {
  const { chain, user, received, minimum } = exchange;
  const { depository, router } = chain.contracts;
  const deposit = routerCalls.depositBalance(depository, user, received.address, minimum, orderId);
  const bound: SwapBound = { kind: "exactIn", limit: minimum, recipient: router };
  return [...toRouter(exchange, bound), self(exchange, deposit)];
}

/**
 * Exchanges what the user pays and sees to it that the recipient gets at least the minimum. Ends with the
 * request's id, by which it is found. Tokens go from the pool to the recipient, and what he has more is
 * compared; native coin is unwrapped and paid by the router.
 * @param exactOutput buys exactly `minimum` for at most what is pulled
 */
export function exchangeAndPay(
  exchange: RoutedExchange,
  {
    recipient,
    requestId,
    exactOutput,
  }: {
    readonly recipient: Address;
    readonly requestId: RequestId;
    readonly exactOutput: boolean;
  },
): RoutedTransaction {
  const { chain, paid, pulled, swapped, received, minimum } = exchange;
  const { router } = chain.contracts;
  const boundTo = (account: Address): SwapBound =>
    exactOutput
      ? { kind: "exactOut", limit: pulled, recipient: account }
      : { kind: "exactIn", limit: minimum, recipient: account };
  const isDirect = received.address !== NATIVE_CURRENCY && swapped.pool !== undefined;
  const calls = isDirect
    ? [
        self(exchange, routerCalls.noteBalance(received.address, recipient)),
        ...wrapping(exchange),
        ...swapped.pool.calls(boundTo(recipient)),
        self(exchange, routerCalls.requireReceived(received.address, recipient, minimum)),
      ]
    : [
        ...toRouter(exchange, boundTo(router)),
        self(exchange, routerCalls.payBalance(received.address, recipient, minimum)),
      ];
  // What an exact output leaves of native coin that was wrapped goes back as what it was.
  const leftover = exactOutput && swapped.pool !== undefined && paid.address === NATIVE_CURRENCY;
  if (leftover) calls.push(self(exchange, routerCalls.unwrapBalance(wrappedOn(chain), 0n)));
  const { to, data } = routed(exchange, calls);
  return { to, data: `${data}${requestId.slice(2)}` };
}

/** Calls after which the router has what was bought. */
function toRouter(exchange: RoutedExchange, bound: SwapBound): RouterCall[] {
  const { chain, swapped, received, minimum } = exchange;
  const calls = [...wrapping(exchange), ...(swapped.pool?.calls(bound) ?? [])];
  if (received.address === NATIVE_CURRENCY)
    calls.push(self(exchange, routerCalls.unwrapBalance(wrappedOn(chain), minimum)));
  return calls;
}

function wrapping(exchange: RoutedExchange): RouterCall[] {
  const { chain, paid } = exchange;
  return paid.address === NATIVE_CURRENCY ? [self(exchange, routerCalls.wrapBalance(wrappedOn(chain)))] : [];
}

function routed(
  { chain, user, paid, pulled, swapped }: RoutedExchange,
  calls: readonly RouterCall[],
): RoutedTransaction {
  const { router, approvalProxy } = chain.contracts;
  // Pools that end before all of it is spent leave the rest in the router, where it would be anybody's: of
  // what was wrapped the token.
  const isWrapped = paid.address === NATIVE_CURRENCY && swapped.pool !== undefined;
  const job: RouterJob = { calls, refundTo: user, refundTokens: isWrapped ? [wrappedOn(chain)] : [] };
  return paid.address === NATIVE_CURRENCY
    ? { to: router, data: multicallCalldata(job) }
    : { to: approvalProxy, data: pullAndRouteCalldata(paid.address, pulled, job) };
}

function self({ chain }: RoutedExchange, data: RouterCall["data"]): RouterCall {
  return { to: chain.contracts.router, data, value: 0n };
}

function wrappedOn({ liquidity, displayName }: Chain): Address {
  if (liquidity?.wrappedNative === undefined)
    throw new Error(
      `invariant violated: native token swapped on ${displayName}, which has no wrapped native token`,
    );
  return liquidity.wrappedNative;
}

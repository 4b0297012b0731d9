import type { Address, Chain, Currency, OrderId, RequestId, RouterCall, RouterJob } from "@causeway/domain";
import { multicallCalldata, NATIVE_CURRENCY, pullAndRouteCalldata, routerCalls } from "@causeway/domain";
import type { SwapBound } from "../../markets/liquidity/liquidity.port.ts";
import type { Swapped } from "./find-swaps.ts";

/** A swap for the router to make. */
export interface RoutedExchange {
  readonly chain: Chain;
  readonly user: Address;
  /** The user's currency. `pulled` is the maximum amount; the remainder is returned to the user. */
  readonly paid: Currency;
  readonly pulled: bigint;
  readonly swapped: Swapped;
  readonly received: Currency;
  /** The minimum of `received`. */
  readonly minimum: bigint;
}

/**
 * The user's transaction. The approval proxy pulls an approved token; native tokens are the transaction's
 * value.
 */
export interface RoutedTransaction {
  readonly to: Address;
  readonly data: RouterCall["data"];
}

/**
 * Swaps the user's payment and deposits the whole output for the user under the order id. Reverts if the
 * output is below the minimum. Never route tokens with callbacks (ERC-777): while the proxy pulls them,
 * anyone can call the router.
 */
export function exchangeAndDeposit(exchange: RoutedExchange, orderId: OrderId): RoutedTransaction {
  return routed(exchange, depositCalls(exchange, orderId));
}

/** The router's calls for {@link exchangeAndDeposit} with the pulled funds. */
export function depositCalls(exchange: RoutedExchange, orderId: OrderId): readonly RouterCall[] {
  const { chain, user, received, minimum } = exchange;
  const { depository, router } = chain.contracts;
  const deposit = routerCalls.depositBalance(depository, user, received.address, minimum, orderId);
  const bound: SwapBound = { kind: "exactIn", limit: minimum, recipient: router };
  return [...toRouter(exchange, bound), routerCall(exchange, deposit)];
}

/**
 * Swaps the user's payment so that the recipient gets at least the minimum. The calldata ends with the
 * request id, by which the transaction is found. Tokens go from the pool to the recipient, whose balance
 * before and after is compared. Native tokens are unwrapped and paid by the router.
 * @param exactOutput buys exactly `minimum` for at most the pulled amount
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
        routerCall(exchange, routerCalls.noteBalance(received.address, recipient)),
        ...wrapping(exchange),
        ...swapped.pool.calls(boundTo(recipient)),
        routerCall(exchange, routerCalls.requireReceived(received.address, recipient, minimum)),
      ]
    : [
        ...toRouter(exchange, boundTo(router)),
        routerCall(exchange, routerCalls.payBalance(received.address, recipient, minimum)),
      ];
  // The unused native tokens of an exact output were wrapped: unwrap and return them.
  const hasLeftover = exactOutput && swapped.pool !== undefined && paid.address === NATIVE_CURRENCY;
  if (hasLeftover) calls.push(routerCall(exchange, routerCalls.unwrapBalance(wrappedOn(chain), 0n)));
  const { to, data } = routed(exchange, calls);
  return { to, data: `${data}${requestId.slice(2)}` };
}

/** Calls after which the router has the output. */
function toRouter(exchange: RoutedExchange, bound: SwapBound): RouterCall[] {
  const { chain, swapped, received, minimum } = exchange;
  const calls = [...wrapping(exchange), ...(swapped.pool?.calls(bound) ?? [])];
  if (received.address === NATIVE_CURRENCY)
    calls.push(routerCall(exchange, routerCalls.unwrapBalance(wrappedOn(chain), minimum)));
  return calls;
}

function wrapping(exchange: RoutedExchange): RouterCall[] {
  const { chain, paid } = exchange;
  return paid.address === NATIVE_CURRENCY
    ? [routerCall(exchange, routerCalls.wrapBalance(wrappedOn(chain)))]
    : [];
}

function routed(
  { chain, user, paid, pulled, swapped }: RoutedExchange,
  calls: readonly RouterCall[],
): RoutedTransaction {
  const { router, approvalProxy } = chain.contracts;
  // A pool that takes less than the input leaves the rest in the router, where anyone could take it. Wrapped
  // native tokens remain as wrapped tokens.
  const isWrapped = paid.address === NATIVE_CURRENCY && swapped.pool !== undefined;
  const job: RouterJob = { calls, refundTo: user, refundTokens: isWrapped ? [wrappedOn(chain)] : [] };
  return paid.address === NATIVE_CURRENCY
    ? { to: router, data: multicallCalldata(job) }
    : { to: approvalProxy, data: pullAndRouteCalldata(paid.address, pulled, job) };
}

function routerCall({ chain }: RoutedExchange, data: RouterCall["data"]): RouterCall {
  return { to: chain.contracts.router, data, value: 0n };
}

function wrappedOn({ liquidity, displayName }: Chain): Address {
  if (liquidity?.wrappedNative === undefined)
    throw new Error(
      `invariant violated: native token swapped on ${displayName}, which has no wrapped native token`,
    );
  return liquidity.wrappedNative;
}

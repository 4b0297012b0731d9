import type { Address, Chain, Currency, OrderId, RequestId, RouterCall, RouterJob } from "@causeway/domain";
import { multicallCalldata, NATIVE_CURRENCY, pullAndRouteCalldata, routerCalls } from "@causeway/domain";
import type { SwapBound } from "../../markets/liquidity/liquidity.port.ts";
import type { RouteSwap } from "./find-swaps.ts";

/** A swap for the router to make. */
export interface RoutedSwap {
  readonly chain: Chain;
  readonly user: Address;
  /** The user's currency. `pulled` is the maximum amount; the remainder is returned to the user. */
  readonly paid: Currency;
  readonly pulled: bigint;
  readonly swap: RouteSwap;
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
export function swapAndDeposit(routedSwap: RoutedSwap, orderId: OrderId): RoutedTransaction {
  return routeTransaction(routedSwap, depositCalls(routedSwap, orderId));
}

/** The router's calls for {@link swapAndDeposit} with the pulled funds. */
export function depositCalls(routedSwap: RoutedSwap, orderId: OrderId): readonly RouterCall[] {
  const { chain, user, received, minimum } = routedSwap;
  const { depository, router } = chain.contracts;
  const deposit = routerCalls.depositBalance(depository, user, received.address, minimum, orderId);
  const bound: SwapBound = { kind: "exactIn", limit: minimum, recipient: router };
  return [...callsToRouter(routedSwap, bound), routerCall(routedSwap, deposit)];
}

/**
 * Swaps the user's payment so that the recipient gets at least the minimum. The calldata ends with the
 * request id, by which the transaction is found. Tokens go from the pool to the recipient, whose balance
 * before and after is compared. Native tokens are unwrapped and paid by the router.
 * @param isExactOutput buys exactly `minimum` for at most the pulled amount
 */
export function swapAndPay(
  routedSwap: RoutedSwap,
  {
    recipient,
    requestId,
    isExactOutput,
  }: {
    readonly recipient: Address;
    readonly requestId: RequestId;
    readonly isExactOutput: boolean;
  },
): RoutedTransaction {
  const { chain, paid, pulled, swap, received, minimum } = routedSwap;
  const { router } = chain.contracts;
  const boundTo = (account: Address): SwapBound =>
    isExactOutput
      ? { kind: "exactOut", limit: pulled, recipient: account }
      : { kind: "exactIn", limit: minimum, recipient: account };
  const isDirect = received.address !== NATIVE_CURRENCY && swap.pool !== undefined;
  const calls = isDirect
    ? [
        routerCall(routedSwap, routerCalls.noteBalance(received.address, recipient)),
        ...wrapCalls(routedSwap),
        ...swap.pool.calls(boundTo(recipient)),
        routerCall(routedSwap, routerCalls.requireReceived(received.address, recipient, minimum)),
      ]
    : [
        ...callsToRouter(routedSwap, boundTo(router)),
        routerCall(routedSwap, routerCalls.payBalance(received.address, recipient, minimum)),
      ];
  // The unused native tokens of an exact output were wrapped: unwrap and return them.
  const hasLeftover = isExactOutput && swap.pool !== undefined && paid.address === NATIVE_CURRENCY;
  if (hasLeftover) calls.push(routerCall(routedSwap, routerCalls.unwrapBalance(wrappedNativeOf(chain), 0n)));
  const { to, data } = routeTransaction(routedSwap, calls);
  return { to, data: `${data}${requestId.slice(2)}` };
}

/** Calls after which the router has the output. */
function callsToRouter(routedSwap: RoutedSwap, bound: SwapBound): RouterCall[] {
  const { chain, swap, received, minimum } = routedSwap;
  const calls = [...wrapCalls(routedSwap), ...(swap.pool?.calls(bound) ?? [])];
  if (received.address === NATIVE_CURRENCY)
    calls.push(routerCall(routedSwap, routerCalls.unwrapBalance(wrappedNativeOf(chain), minimum)));
  return calls;
}

function wrapCalls(routedSwap: RoutedSwap): RouterCall[] {
  const { chain, paid } = routedSwap;
  return paid.address === NATIVE_CURRENCY
    ? [routerCall(routedSwap, routerCalls.wrapBalance(wrappedNativeOf(chain)))]
    : [];
}

function routeTransaction(
  { chain, user, paid, pulled, swap }: RoutedSwap,
  calls: readonly RouterCall[],
): RoutedTransaction {
  const { router, approvalProxy } = chain.contracts;
  // A pool that takes less than the input leaves the rest in the router, where anyone could take it. Wrapped
  // native tokens remain as wrapped tokens.
  const isWrapped = paid.address === NATIVE_CURRENCY && swap.pool !== undefined;
  const job: RouterJob = { calls, refundTo: user, refundTokens: isWrapped ? [wrappedNativeOf(chain)] : [] };
  return paid.address === NATIVE_CURRENCY
    ? { to: router, data: multicallCalldata(job) }
    : { to: approvalProxy, data: pullAndRouteCalldata(paid.address, pulled, job) };
}

function routerCall({ chain }: RoutedSwap, data: RouterCall["data"]): RouterCall {
  return { to: chain.contracts.router, data, value: 0n };
}

function wrappedNativeOf({ liquidity, displayName }: Chain): Address {
  if (liquidity?.wrappedNative === undefined)
    throw new Error(
      `invariant violated: native token swapped on ${displayName}, which has no wrapped native token`,
    );
  return liquidity.wrappedNative;
}

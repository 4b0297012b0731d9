import type { OriginSwap, SwapRefused } from "@causeway/chains";
import { type Currency, formatAmount, type Hex, type NonEvmChain, ServiceError } from "@causeway/domain";
import type { RouteSwap } from "../routing/find-swaps.ts";

/**
 * The swap in the user's transaction. Its instructions are not validated yet.
 * @throws ServiceError SERVICE_UNAVAILABLE
 */
export async function proposeSwap(
  { swapAggregator }: NonEvmChain,
  { address }: Currency,
  user: Hex,
  { amountIn, pool }: RouteSwap,
): Promise<OriginSwap> {
  if (pool?.propose === undefined || swapAggregator === undefined)
    throw new Error("invariant violated: a swap without instructions on a non-EVM chain");
  const { programs } = swapAggregator;
  return { currency: address, maxInput: amountIn, programs, proposed: await pool.propose(user) };
}

/** Describes the step for the user, including what stays in the user's wallet. */
export function swapDescription(
  { native }: Pick<NonEvmChain, "native">,
  paid: Currency,
  deposited: Currency,
  { amountIn, amountOut }: Pick<RouteSwap, "amountIn" | "amountOut">,
): string {
  const paidText = `${formatAmount(amountIn, paid.decimals)} ${paid.symbol}`;
  const depositedText = `${formatAmount(amountOut, deposited.decimals)} ${deposited.symbol}`;
  const surplus = `what the swap yields above ${depositedText} stays in your wallet`;
  // Closing the account of wrapped SOL unwraps its whole balance.
  const unwrapped =
    deposited.address === native.address
      ? `; all wrapped ${native.symbol} in your wallet becomes ${native.symbol}`
      : "";
  return `Swap at most ${paidText} and deposit ${depositedText} to start the request; ${surplus}${unwrapped}`;
}

/** The client error for a refused swap. Names an alternative. */
export function swapRefusal(
  { displayName }: Pick<NonEvmChain, "displayName">,
  cause: SwapRefused,
): ServiceError {
  const { subject, message } = cause;
  if (subject === "currency")
    return new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `originCurrency cannot be swapped on ${displayName}: ${message}; use another currency`,
      { field: "originCurrency", cause },
    );
  if (subject === "size")
    return new ServiceError(
      "NO_SWAP_ROUTES_FOUND",
      `The swap and the deposit do not fit into one transaction on ${displayName}: ${message}; use another originCurrency`,
      { field: "originCurrency", cause },
    );
  return new ServiceError(
    "SERVICE_UNAVAILABLE",
    `The swap aggregator of ${displayName} returned an unusable answer: ${message}; try again, or use an originCurrency that GET /chains lists`,
    { field: "originCurrency", cause },
  );
}

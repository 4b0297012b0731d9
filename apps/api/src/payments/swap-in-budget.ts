import type { FillThroughCalls } from "@causeway/chains";
import { BPS } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { fillSwapQuoter } from "./fill-swap.ts";

/** The solver's budget for a payment, in base units of `paidFrom`. */
export interface FillBudget {
  readonly paidFrom: Address;
  /** Maximum cost of the swap at current pool prices. */
  readonly planned: bigint;
  /** Maximum cost in the block, after any pool movement. */
  readonly max: bigint;
}

/** Gas used by a swap may exceed its quote by this factor, as pool state changes. */
export const MAX_SWAP_GAS_FACTOR = 2n;

/** `moved`: the pools cannot deliver within the budget; quote again later. */
export type SwapInBudget =
  | (NonNullable<FillThroughCalls["swap"]> & {
      readonly kind: "exchanged";
      /** Gas units of the swap. */
      readonly gas: bigint;
    })
  | { readonly kind: "moved"; readonly why: string };

/**
 * Finds the swap that buys a fill's output within its budget.
 * @param recipient receives the output
 * @throws ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE: no source answered
 */
export async function swapInBudget(
  services: Pick<Services, "quotePolicy" | "liquidity">,
  chain: Pick<Chain, "id" | "liquidity">,
  { currency, amount }: { readonly currency: Address; readonly amount: bigint },
  { paidFrom, planned, max }: FillBudget,
  recipient: Address,
): Promise<SwapInBudget> {
  const { routed } = services.quotePolicy.gas;
  const swapQuoter = fillSwapQuoter(services.liquidity, chain, { paidFrom, currency }, routed);
  const swap = await swapQuoter.quoteExactOut(amount);
  if (swap === undefined) return { kind: "moved", why: "no swap covers the fill" };
  if (swap.amountIn > planned)
    return {
      kind: "moved",
      why: `the fill costs ${swap.amountIn}, but the deposit covers only ${planned}`,
    };
  const limit = limitOf(swap, max);
  return {
    kind: "exchanged",
    gas: swap.gas,
    paidFrom,
    limit,
    wrappedNative: chain.liquidity?.wrappedNative,
    swapCalls: swap.calls(limit, recipient),
  };
}

/** The maximum to spend: the quote plus its slippage, up to the maximum of the budget. */
function limitOf(
  { amountIn, slippageBps }: { readonly amountIn: bigint; readonly slippageBps: number },
  max: bigint,
): bigint {
  const withMargin = amountIn + (amountIn * BigInt(slippageBps)) / BPS;
  if (withMargin <= max) return withMargin;
  return max > amountIn ? max : amountIn;
}

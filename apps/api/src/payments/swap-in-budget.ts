import type { FillThroughCalls } from "@causeway/chains";
import { BPS } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { exchangeInFill } from "./fill-swap.ts";

/** The solver's budget for a payment, in base units of `paidFrom`. */
export interface FillBudget {
  readonly paidFrom: Address;
  /** Maximum cost of the swap at current pool prices. */
  readonly planned: bigint;
  /** Maximum cost in the block, after any pool movement. */
  readonly max: bigint;
}

/** Gas used by a swap may exceed its quote by this factor, as pool state changes. */
export const MAX_EXCHANGE_GAS_FACTOR = 2n;

/** `moved`: the pools cannot deliver within the budget; quote again later. */
export type ExchangeInBudget =
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
export async function exchangeInBudget(
  services: Pick<Services, "quotePolicy" | "liquidity">,
  chain: Pick<Chain, "id" | "liquidity">,
  { currency, amount }: { readonly currency: Address; readonly amount: bigint },
  { paidFrom, planned, max }: FillBudget,
  recipient: Address,
): Promise<ExchangeInBudget> {
  const { routed } = services.quotePolicy.gas;
  const exchange = exchangeInFill(services.liquidity, chain, { paidFrom, currency }, routed);
  const answer = await exchange.costs(amount);
  if (answer === undefined) return { kind: "moved", why: "no swap covers the fill" };
  if (answer.amountIn > planned)
    return {
      kind: "moved",
      why: `the fill costs ${answer.amountIn}, but the deposit covers only ${planned}`,
    };
  const limit = limitOf(answer, max);
  return {
    kind: "exchanged",
    gas: answer.gas,
    paidFrom,
    limit,
    wrappedNative: chain.liquidity?.wrappedNative,
    swapCalls: answer.calls(limit, recipient),
  };
}

/** Allows for slippage up to the maximum of the budget. */
function limitOf(
  { amountIn, slippageBps }: { readonly amountIn: bigint; readonly slippageBps: number },
  max: bigint,
): bigint {
  const withMargin = amountIn + (amountIn * BigInt(slippageBps)) / BPS;
  if (withMargin <= max) return withMargin;
  return max > amountIn ? max : amountIn;
}

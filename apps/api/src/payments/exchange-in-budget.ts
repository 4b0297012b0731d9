import type { FillThroughCalls } from "@causeway/chains";
import { BPS } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { exchangeInFill } from "./fill-exchange.ts";

/** What the solver spends on a payment, smallest units of `paidFrom`. */
export interface FillBudget {
  readonly paidFrom: Address;
  /** The exchange may cost so much as the pools stand now. */
  readonly planned: bigint;
  /** And so much in the block, whatever others have done to the pools by then. */
  readonly most: bigint;
}

/** An exchange may need so many times the gas it was told to need: state moves. */
export const MAX_EXCHANGE_GAS_FACTOR = 2n;

/** `moved`: no pools bear it now; they are asked anew. */
export type ExchangeInBudget =
  | (NonNullable<FillThroughCalls["exchanged"]> & {
      readonly kind: "exchanged";
      /** Gas units of the exchange. */
      readonly gas: bigint;
    })
  | { readonly kind: "moved"; readonly why: string };

/**
 * The exchange by which a fill gets what it pays, when its budget bears it.
 * @param recipient who gets what is bought
 * @throws ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE: no source answered
 */
export async function exchangeInBudget(
  services: Pick<Services, "quotePolicy"> & { readonly liquidity?: Services["liquidity"] | undefined },
  chain: Pick<Chain, "id" | "liquidity">,
  { currency, amount }: { readonly currency: Address; readonly amount: bigint },
  { paidFrom, planned, most }: FillBudget,
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
  const limit = limitOf(answer, most);
  return {
    kind: "exchanged",
    gas: answer.gas,
    paidFrom,
    limit,
    wrappedNative: chain.liquidity?.wrappedNative,
    exchange: answer.calls(limit, recipient),
  };
}

/** Room for what others may do to the pools meanwhile, and no more than is borne. */
function limitOf(
  { amountIn, slippageBps }: { readonly amountIn: bigint; readonly slippageBps: number },
  most: bigint,
): bigint {
  const roomy = amountIn + (amountIn * BigInt(slippageBps)) / BPS;
  if (roomy <= most) return roomy;
  return most > amountIn ? most : amountIn;
}

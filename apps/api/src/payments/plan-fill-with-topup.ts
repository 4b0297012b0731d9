import { nativeTransferCall } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { OwnKeys } from "../chains/lane-signers.ts";
import type { PaymentPlan, PaymentQuestion } from "./payment-plan.ts";
import { planFillWithCalls } from "./plan-fill-with-calls.ts";
import type { Short } from "./try-fill.ts";

/** `short`: it may pass by waiting. `refused`: the recipient takes the token or the coin not at all. */
export type FillWithTopupPlan =
  | Extract<PaymentPlan, { kind: "ready" | "tooDear" }>
  | Short
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Plans the payment of a recipient in a token together with coin for his gas, in one transaction: he gets
 * both or nothing, and whoever checks the fill sees both.
 * @param question.maxGas of the whole transaction
 * @param topupWei what was quoted, however much was deposited: the rest of a deposit is priced at the fill,
 * and so is what this costs
 * @throws RpcFault, ServiceError RPC_HTTP_ERROR
 */
export async function planFillWithTopup(
  services: OwnKeys,
  connected: ConnectedChain,
  question: PaymentQuestion,
  topupWei: bigint,
): Promise<FillWithTopupPlan> {
  const { chain, pulse } = connected;
  const { maxFeePerGas, baseFeePerGas, maxPriorityFeePerGas } = pulse.gasPrices();
  const least = baseFeePerGas + maxPriorityFeePerGas;
  const planned = await planFillWithCalls(services, connected, question, {
    calls: [nativeTransferCall(chain.contracts.router, question.recipient, topupWei)],
    authorizationList: undefined,
    plainGas: question.maxGas,
    extraGas: 0n,
    maxFeePerGas: maxFeePerGas > least ? maxFeePerGas : least,
    // Nobody is charged for it: the quote has taken what it costs.
    coinUsd: 0n,
  });
  if (planned.kind === "callsFail") return { kind: "refused", reason: planned.reason };
  // The cap is today's price.
  if (planned.kind === "dear") return { kind: "short", why: planned.why };
  return planned;
}

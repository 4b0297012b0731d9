import { nativeTransferCall } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { OwnKeys } from "../chains/index.ts";
import type { PaymentPlan, PaymentQuestion } from "./payment-plan.ts";
import { planFillWithCalls } from "./plan-fill-with-calls.ts";
import type { Short } from "./try-fill.ts";

/** `short` is temporary. `refused`: the recipient rejects the token or the native tokens. */
export type FillWithTopupPlan =
  | Extract<PaymentPlan, { kind: "ready" | "tooDear" }>
  | Short
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Plans a token payment and a gas top-up in one transaction: the recipient gets both or neither.
 * @param question.maxGas of the whole transaction
 * @param topupWei the quoted top-up, whatever was deposited: the rest of the deposit is priced at the fill,
 * including this cost
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
  const minFeePerGas = baseFeePerGas + maxPriorityFeePerGas;
  const planned = await planFillWithCalls(services, connected, question, {
    calls: [nativeTransferCall(chain.contracts.router, question.recipient, topupWei)],
    authorizationList: undefined,
    plainGas: question.maxGas,
    extraGas: 0n,
    maxFeePerGas: maxFeePerGas > minFeePerGas ? maxFeePerGas : minFeePerGas,
    // Not charged separately: the quote includes its cost.
    coinUsd: 0n,
  });
  if (planned.kind === "callsFail") return { kind: "refused", reason: planned.reason };
  // The cap is the current price.
  if (planned.kind === "dear") return { kind: "short", why: planned.why };
  return planned;
}

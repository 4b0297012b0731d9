import type { WantedCall } from "../payments/contract-call.port.ts";
import { sendContractCall } from "../payments/index.ts";
import type { HubCall } from "./hub.port.ts";
import type { SettlementServices } from "./settlement-services.port.ts";

/**
 * Sends the solver's next transaction to the hub, with its payload.
 * @throws RpcFault: once its nonce is reserved, the next round sends the transaction
 */
export async function sendToHub(
  services: Pick<
    SettlementServices,
    "clock" | "events" | "uow" | "reads" | "signer" | "hub" | "sendAsPayment" | "settlement"
  >,
  { gasLimit, ...call }: HubCall,
  hooks: Required<Pick<WantedCall, "lock" | "assign">>,
): Promise<void> {
  const { hub, signer, events, settlement, sendAsPayment } = services;
  const leg = { kind: "hub", id: await settlement.nextBatchId(), requestId: undefined };
  const callToSend = { leg, call, gasLimit, ...hooks };
  const sent =
    sendAsPayment === undefined
      ? await sendContractCall(services, hub.lane, signer, callToSend)
      : await sendAsPayment(callToSend);
  if (sent === "insufficientFunds")
    events.alarm("hub_refused", { reason: "the solver lacks the native token of the hub" });
  if (typeof sent === "object" && (sent.kind === "waits" || sent.kind === "held"))
    events.alarm("hub_waits", { reason: sent.why });
}

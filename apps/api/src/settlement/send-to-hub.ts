import { sendContractCall, type WantedCall } from "../payments/index.ts";
import type { HubCall } from "./hub.port.ts";
import type { SettlementServices } from "./settlement-services.port.ts";

type Needs = Pick<
  SettlementServices,
  "chains" | "clock" | "events" | "uow" | "reads" | "signer" | "hub" | "settlement"
>;

/**
 * Sends the solver's next transaction to the hub, with what it carries.
 * @throws RpcFault: once it is reserved, the next round sends it
 */
export async function sendToHub(
  services: Needs,
  { gasLimit, ...call }: HubCall,
  carried: Required<Pick<WantedCall, "lock" | "taken">>,
): Promise<void> {
  const { hub, signer, chains, events, settlement } = services;
  const isWatched = chains.all.some(({ chain }) => chain.id === hub.hub.chainId);
  const leg = { kind: "hub", id: await settlement.nextBatchId(), requestId: undefined };
  const sent = await sendContractCall(services, hub.lane, {
    signer,
    isWatched,
    leg,
    call,
    gasLimit,
    ...carried,
  });
  if (sent === "short")
    events.alarm("hub_refused", { reason: "the solver lacks the native token of the hub" });
  if (typeof sent === "object" && sent.kind === "waits") events.alarm("hub_waits", { reason: sent.why });
}

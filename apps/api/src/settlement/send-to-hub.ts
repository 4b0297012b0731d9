import { sendContractCall, type LegKindToPay, type Wanted } from "../payments/index.ts";
import type { HubCall } from "./hub.port.ts";
import type { SettlementServices } from "./settlement-services.port.ts";

type Needs = Pick<
  SettlementServices,
  "chains" | "clock" | "events" | "uow" | "reads" | "signer" | "hub" | "settlement"
>;

/**
 * Sends the solver's next transaction to the hub, which carries what `kind` takes.
 * @throws RpcFault: once it is reserved, the next round sends it
 */
export async function sendToHub(
  services: Needs,
  { gasLimit, ...call }: HubCall,
  kind: LegKindToPay<Wanted>,
): Promise<void> {
  const { hub, signer, chains, events, settlement } = services;
  const isWatched = chains.all.some(({ chain }) => chain.id === hub.hub.chainId);
  const leg = { kind: "hub", batchId: await settlement.nextBatchId(), requestId: undefined } as const;
  const sent = await sendContractCall(services, hub.lane, { signer, isWatched, leg, call, gasLimit }, kind);
  if (sent.kind === "short")
    events.alarm("hub_refused", { reason: "the solver lacks the native token of the hub" });
  if (sent.kind === "waits") events.alarm("hub_waits", { reason: sent.why });
}

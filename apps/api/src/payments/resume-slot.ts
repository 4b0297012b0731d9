import type { Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { LaneKeys } from "../chains/index.ts";
import { sendRailSlot } from "./non-evm/send-rail-slot.ts";
import { sendSlot } from "./send-slot.ts";
import type { TransitionServices } from "../requests/index.ts";

type Needs = LaneKeys & Pick<WorkerServices, "events" | "uow" | "reads" | "chains"> & TransitionServices;

/** Continues a slot that was reserved for a payment, on any chain family. @throws RpcFault */
export async function resumeSlot(services: Needs, { id, chainId }: Slot): Promise<void> {
  const onRail = services.chains.rail(chainId);
  if (onRail === undefined) return sendSlot(services, id);
  return sendRailSlot(services, onRail, id);
}

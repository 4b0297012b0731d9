import type { LaneKeys } from "../chains/index.ts";
import type { Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { TransitionServices } from "../requests/index.ts";
import { transferPayer } from "./payers/transfer.ts";
import { sendNewest, sendSlot } from "./send-slot.ts";

type Needs = LaneKeys & Pick<WorkerServices, "events" | "uow" | "reads" | "chains"> & TransitionServices;

/**
 * Continues a slot that was reserved for a payment, on any chain family. Does not wait: the caller serves
 * other chains.
 * @throws RpcFault: the slot stays as it is, and maintenance of its lane retries
 */
export async function resumeSlot(services: Needs, { id, chainId }: Slot): Promise<void> {
  const onRail = services.chains.rail(chainId);
  if (onRail === undefined) return await sendSlot(services, id);
  const slot = await services.reads.slot(id);
  if (slot === undefined || slot.cancelReason !== undefined) return;
  // Later attempts belong to the tracker.
  if (slot.attempts.at(-1)?.broadcastAtMs !== undefined) return;
  await sendNewest(services, transferPayer(services, onRail), slot);
}

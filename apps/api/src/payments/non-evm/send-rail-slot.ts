import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import { transferPayer, type TransferServices } from "../payers/transfer.ts";
import { sendNewest } from "../send-slot.ts";

/**
 * Signs a slot's first bytes if needed, commits them, then sends them. Safe to call any time from any number
 * of processes: only committed bytes are sent, and sending twice pays once. Later attempts belong to the
 * tracker. Does not wait: the caller serves other chains.
 * @throws RpcFault: the slot stays as it is, and the tracker retries
 */
export async function sendRailSlot(
  services: TransferServices,
  connected: ConnectedPayingRail,
  slotId: string,
): Promise<void> {
  const slot = await services.reads.slot(slotId);
  if (slot === undefined || slot.cancelReason !== undefined) return;
  if (slot.attempts.at(-1)?.broadcastAtMs !== undefined) return;
  await sendNewest(services, transferPayer(services, connected), slot);
}

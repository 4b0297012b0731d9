import type { RefundFailReason } from "@causeway/domain";
import type { DepositRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { transition, type TransitionServices } from "../requests/index.ts";
import { DONE } from "../db/wait.ts";
import type { Progress } from "../db/wait.ts";

/** Marks a deposit that cannot be refunded automatically: the operator must handle it. */
export async function giveUpRefund(
  services: Pick<Services, "events" | "uow"> & TransitionServices,
  deposit: DepositRecord,
  reason: RefundFailReason,
  detail?: string,
  /**
   * Gas of its request's reverted fills, in base units of its currency: a deposit too low to refund pays for
   * it.
   */
  revertedGas = 0n,
): Promise<Progress> {
  const { requestId } = deposit;
  await services.uow.run(async (tx) => {
    const record = requestId === undefined ? undefined : await tx.requests.lock(requestId);
    const current = await tx.deposits.lock(deposit.id);
    if (current?.refundState !== "none") return;
    await tx.deposits.setRefund(deposit.id, "impossible", reason);
    if (detail !== undefined) await tx.deposits.noteRefundWaits(deposit.id, detail);
    // A manual refund later pays for nothing.
    if (record && reason === "AMOUNT_TOO_LOW_TO_REFUND")
      await tx.fillBurns.keep(record.terms.requestId, { kept: current.amount, revertedGas });
    if (record)
      await transition(services, tx, record, { kind: "refundImpossible", depositId: deposit.id, reason });
  });
  services.events.alarm("refund_impossible", { requestId, depositId: deposit.id, reason, detail });
  return DONE;
}

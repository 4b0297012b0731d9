import type { RefundFailReason } from "@causeway/domain";
import type { DepositRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import { transition } from "./transition.ts";
import type { TransitionServices } from "./transition.ts";
import { DONE } from "./wait.ts";
import type { Progress } from "./wait.ts";

/** A deposit that cannot be sent back by itself: somebody has to look. */
export async function giveUpRefund(
  services: Pick<Services, "uow"> & TransitionServices,
  deposit: DepositRecord,
  reason: RefundFailReason,
  detail?: string,
): Promise<Progress> {
  const { requestId } = deposit;
  await services.uow.run(async (tx) => {
    const record = requestId === undefined ? undefined : await tx.requests.lock(requestId);
    const current = await tx.deposits.lock(deposit.id);
    if (current?.refundState !== "none") return;
    await tx.deposits.setRefund(deposit.id, "impossible", reason);
    if (record)
      await transition(services, tx, record, { kind: "refundImpossible", depositId: deposit.id, reason });
  });
  services.events.alarm("refund_impossible", { requestId, depositId: deposit.id, reason, detail });
  return DONE;
}

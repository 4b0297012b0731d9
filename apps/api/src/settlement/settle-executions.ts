import type { Hex32 } from "@causeway/domain";
import type { SettlementServices } from "./settlement-services.port.ts";

/** Stores which executions are final on the hub, and which payments that settles. */
export async function settleExecutions(
  { clock, events, uow }: Pick<SettlementServices, "clock" | "events" | "uow">,
  keys: readonly Hex32[],
): Promise<void> {
  if (keys.length === 0) return;
  const atMs = clock.nowMs();
  const settled = await uow.run(async (tx) => {
    const payments = await tx.settlement.settle(keys, atMs);
    for (const { requestId } of payments) await tx.requests.note(requestId, atMs, "settled", {});
    return payments;
  });
  for (const { requestId } of settled) events.happened("settlement_settled", { requestId });
}

import type { Attempt, Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { kindOf } from "./legs/index.ts";
import { attemptFacts } from "./slot-facts.ts";

export interface ToSend {
  readonly slot: Slot;
  readonly attempt: Attempt;
}

export interface BroadcastAttempt extends ToSend {
  /** The node's answer. */
  readonly outcome: string;
}

/**
 * Records that nodes have the bytes, and updates the legs, in one commit.
 * @param isId whether an attempt's hash is its id on chain; otherwise clients learn it later
 */
export async function noteSent(
  services: WorkerServices,
  sent: readonly BroadcastAttempt[],
  isId = true,
): Promise<void> {
  const atMs = services.clock.nowMs();
  const payments = sent.filter(({ attempt }) => attempt.kind === "pay");
  await services.uow.run(async (tx) => {
    for (const [kind, ofKind] of Map.groupBy(payments, ({ slot }) => kindOf(slot)))
      await kind.broadcast?.(services, tx, ofKind, { atMs, isId });
    await tx.lanes.setBroadcasts(
      sent.map(({ slot, attempt }) => ({ slotId: slot.id, n: attempt.n })),
      atMs,
    );
    for (const { slot, attempt, outcome } of sent)
      tx.events.happened("attempt_broadcast", { ...attemptFacts(slot, attempt), outcome });
  });
}

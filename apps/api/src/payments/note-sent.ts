import type { Facts } from "../db/events.port.ts";
import type { Attempt, Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { type Move, transitionAll, type TransitionServices } from "../requests/index.ts";

export interface ToSend {
  readonly slot: Slot;
  readonly attempt: Attempt;
}

export interface Sent extends ToSend {
  /** The node's answer. */
  readonly outcome: string;
}

/**
 * Records that nodes have the bytes, and updates the requests, in one commit.
 * @param isId whether an attempt's hash is its id on chain; otherwise clients learn it later
 */
export async function noteSent(
  services: Pick<Services, "uow"> & TransitionServices,
  sent: readonly Sent[],
  isId = true,
): Promise<void> {
  const atMs = services.clock.nowMs();
  const fills = sent.filter(({ slot, attempt }) => slot.leg.kind === "fill" && attempt.kind === "pay");
  await services.uow.run(async (tx) => {
    if (fills.length > 0) {
      const records = await tx.requests.lockAll(fills.flatMap(({ slot }) => slot.leg.requestId ?? []));
      const known = fills.flatMap(({ slot, attempt }) => {
        const record = slot.leg.requestId && records.get(slot.leg.requestId);
        return record ? [{ slot, attempt, record }] : [];
      });
      const moves = known.map(({ slot: { nonce }, attempt: { txHash }, record }): Move => ({
        record,
        event: { kind: "fillBroadcast" },
        change: isId ? { txHashes: [txHash] } : {},
        facts: { txHash, nonce, broadcastAtMs: atMs },
      }));
      const transitions = await transitionAll(services, tx, moves);
      for (const [at, { slot, attempt, record }] of known.entries()) {
        if (transitions[at]?.decision.kind !== "applied" || record.state.front === "none") continue;
        const fastFill = await tx.fastFills.find(record.terms.requestId);
        if (fastFill === undefined) continue;
        const tookMs = atMs - fastFill.acceptedAtMs;
        tx.events.happened("fast_fill_broadcast", { ...attemptFacts(slot, attempt), tookMs });
      }
    }
    await tx.lanes.setBroadcasts(
      sent.map(({ slot, attempt }) => ({ slotId: slot.id, n: attempt.n })),
      atMs,
    );
    for (const { slot, attempt, outcome } of sent)
      tx.events.happened("attempt_broadcast", { ...attemptFacts(slot, attempt), outcome });
  });
}

export function attemptFacts(slot: Slot, attempt: Attempt): Facts {
  return {
    chainId: slot.chainId,
    nonce: slot.nonce,
    leg: slot.leg.kind,
    requestId: slot.leg.requestId,
    attempt: attempt.n,
    kind: attempt.kind,
    txHash: attempt.txHash,
  };
}

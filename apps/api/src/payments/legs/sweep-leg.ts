import { sweepJob } from "../../requests/transition.ts";
import type { LegHandler } from "./leg-course.ts";

/**
 * Money moved from a deposit address. What it means to its request is said by the deposit that it makes, like
 * anybody's.
 */
export function sweepLeg(sweepId: string): LegHandler {
  return {
    async mined({ tx }, { attempt, receipt }) {
      // One that reverted has moved nothing, but its money is spoken for until nothing can change that any
      // more.
      if (receipt.status !== "success") return;
      await tx.depositAddresses.lockSweep(sweepId);
      await tx.depositAddresses.setSweep(sweepId, "mined", {
        blockNumber: receipt.blockNumber,
        txHash: attempt.txHash,
      });
    },
    async unmined({ tx }) {
      await tx.depositAddresses.lockSweep(sweepId);
      await tx.depositAddresses.setSweep(sweepId, "sent");
    },
    async final({ services, tx, slot }) {
      const mined = slot.attempts.find(({ n }) => n === slot.minedAttempt);
      if (mined === undefined || slot.minedBlockNumber === undefined)
        throw new Error(`invariant violated: slot ${slot.id} is final without its block`);
      const sweep = await tx.depositAddresses.lockSweep(sweepId);
      await tx.depositAddresses.setSweep(sweepId, "final", {
        blockNumber: slot.minedBlockNumber,
        txHash: mined.txHash,
      });
      if (sweep !== undefined) await tx.depositAddresses.noteFunds(sweep.address, services.clock.nowMs());
    },
    async dead({ services, tx, record }, reason) {
      const sweep = await tx.depositAddresses.lockSweep(sweepId);
      if (sweep === undefined || sweep.state === "void") return;
      const atMs = services.clock.nowMs();
      // The contract moves exactly what was decided or nothing: what reverted will revert again, and what is
      // there is decided about anew.
      if (reason === "TRANSACTION_REVERTED") {
        await tx.depositAddresses.voidSweep(sweep, atMs);
        if (record) await tx.requests.note(sweep.requestId, atMs, "sweepVoid", { reason });
        return;
      }
      await tx.depositAddresses.setSweep(sweepId, "planned");
      await tx.outbox.add([sweepJob(sweepId, atMs)], atMs);
    },
  };
}

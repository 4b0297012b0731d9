import { sweepJob } from "../../requests/index.ts";
import type { LegHandler } from "./leg-course.ts";

/** Moves funds from a deposit address. The deposit that it makes acts on the request, like any other. */
export function sweepLeg(sweepId: string): LegHandler {
  return {
    async mined({ tx }, { attempt, receipt }) {
      // A reverted sweep moved nothing, but its funds stay reserved until that is final.
      if (receipt.status !== "success") return;
      await tx.depositAddresses.lockSweep(sweepId);
      await tx.depositAddresses.setSweep(sweepId, "mined", {
        blockNumber: receipt.blockNumber,
        txHash: attempt.txHash,
      });
    },
    async orphaned({ tx }) {
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
      // The contract moves exactly the decided amount or nothing: a revert would repeat, and the remaining
      // funds are decided again.
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

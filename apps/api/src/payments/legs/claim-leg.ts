import type { Hex32 } from "@causeway/domain";
import { claimJob, closePaidClaim, returnClaim } from "../../balances/index.ts";
import type { LegHandler } from "./leg-course.ts";

/** The payout of an app balance to its wallet. */
export function claimLeg(claimId: Hex32): LegHandler {
  return {
    async mined({ services, tx }, { attempt, receipt }) {
      if (receipt.status === "success")
        await tx.claims.setTxHash(claimId, attempt.txHash, services.clock.nowMs());
    },
    async orphaned({ services, tx }) {
      await tx.claims.setTxHash(claimId, undefined, services.clock.nowMs());
    },
    async final({ services, tx }) {
      const wallet = await tx.claims.walletOf(claimId);
      if (wallet !== undefined) await closePaidClaim(services, tx, { claimId, wallet });
    },
    async dead({ services, tx }, reason) {
      const wallet = await tx.claims.walletOf(claimId);
      if (wallet === undefined) return;
      // A reverted payout would revert again: it returns to the balance, minus the gas, since the recipient
      // could make it fail forever. One that was not included is retried.
      if (reason === "TRANSACTION_REVERTED")
        return await returnClaim(services, tx, { claimId, wallet }, { failReason: reason, cost: "fee" });
      const atMs = services.clock.nowMs();
      const claim = await tx.claims.lock(claimId);
      if (claim?.state !== "paying") return;
      await tx.claims.setState(claimId, { state: "paying", tries: claim.tries + 1 }, atMs);
      await tx.outbox.add([claimJob(claimId, claim.tries + 1)], atMs);
    },
  };
}

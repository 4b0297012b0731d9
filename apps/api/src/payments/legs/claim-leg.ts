import type { Hex32 } from "@causeway/domain";
import { claimJob } from "../../balances/accept-claim.ts";
import { closePaidClaim, returnClaim } from "../../balances/end-claim.ts";
import type { LegHandler } from "./leg-course.ts";

/** What a wallet takes back of its balance. */
export function claimLeg(claimId: Hex32): LegHandler {
  return {
    async mined({ services, tx }, { attempt, receipt }) {
      if (receipt.status === "success")
        await tx.claims.setTxHash(claimId, attempt.txHash, services.clock.nowMs());
    },
    async unmined({ services, tx }) {
      await tx.claims.setTxHash(claimId, undefined, services.clock.nowMs());
    },
    async final({ services, tx }) {
      const wallet = await tx.claims.walletOf(claimId);
      if (wallet !== undefined) await closePaidClaim(services, tx, { claimId, wallet });
    },
    async dead({ services, tx }, reason) {
      const wallet = await tx.claims.walletOf(claimId);
      if (wallet === undefined) return;
      // What reverted will revert again: the money is balance again, without what the try cost, which the
      // recipient could make fail for ever. What was merely not included is tried anew.
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

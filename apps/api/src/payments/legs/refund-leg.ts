import type { DepositId, TxHash } from "@causeway/domain";
import { transition } from "../../requests/index.ts";
import type { LegHandler } from "./leg-course.ts";

/** The refund of a deposit. */
export function refundLeg(depositId: DepositId): LegHandler {
  return {
    async mined({ services, tx, slot, record }, { attempt, receipt }) {
      if (record === undefined || receipt.status !== "success") return;
      const refundTxHashes = withHash(record.refundTxHashes, attempt.txHash);
      await transition(
        services,
        tx,
        record,
        { kind: "refundMined", depositId },
        { refundTxHashes },
        { txHash: attempt.txHash, block: receipt.blockNumber, gasUsed: receipt.gasUsed },
      );
      // A refund outside the request's own flow (such as a second deposit) changes no state, but its hash
      // must be shown; that of another depositor's money must not.
      const isOwn = record.state.depositId === depositId && record.state.name === "refunding";
      const deposit = await tx.deposits.lock(depositId);
      // For native payments, and any payment on a non-EVM chain, the call's target is the recipient.
      const isToUser = deposit?.depositor === record.terms.user || slot.call.to === record.terms.refundTo;
      if (!isOwn && isToUser)
        await tx.requests.save(
          record.terms.requestId,
          { state: record.state, refundTxHashes },
          services.clock.nowMs(),
        );
    },
    async orphaned({ services, tx, slot, record }, attempt) {
      if (record === undefined || slot.minedStatus !== "success") return;
      await transition(
        services,
        tx,
        record,
        { kind: "refundUnmined", depositId },
        { refundTxHashes: record.refundTxHashes.filter((known) => known !== attempt.txHash) },
      );
    },
    async final({ services, tx, record }) {
      await tx.deposits.setRefund(depositId, "final", undefined);
      if (record) await transition(services, tx, record, { kind: "refundFinal", depositId });
    },
    async dead({ services, tx, record }, reason) {
      // A reverted refund would revert again and needs the operator. One that was not included is retried.
      const impossible = reason === "TRANSACTION_REVERTED";
      await tx.deposits.setRefund(
        depositId,
        impossible ? "impossible" : "none",
        impossible ? "MANUAL_REFUND_REQUIRED" : undefined,
      );
      if (impossible) await tx.deposits.noteRefundWaits(depositId, "its transaction reverted");
      if (impossible && record)
        await transition(services, tx, record, {
          kind: "refundImpossible",
          depositId,
          reason: "MANUAL_REFUND_REQUIRED",
        });
    },
  };
}

function withHash(hashes: readonly TxHash[], hash: TxHash): TxHash[] {
  return hashes.includes(hash) ? [...hashes] : [...hashes, hash];
}

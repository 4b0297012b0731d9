import { transition } from "../transition.ts";
import type { LegCourse } from "./leg-course.ts";

/** A call that the executor sends for a user. */
export const executionLeg: LegCourse = {
  async mined({ services, tx, record }, { attempt, receipt }) {
    if (record === undefined) return;
    const facts = { txHash: attempt.txHash, block: receipt.blockNumber, gasUsed: receipt.gasUsed };
    const change = record.inTxHashes.includes(attempt.txHash)
      ? {}
      : { inTxHashes: [...record.inTxHashes, attempt.txHash] };
    await transition(
      services,
      tx,
      record,
      receipt.status === "success"
        ? { kind: "executionMined" }
        : { kind: "executionReverted", reason: "TRANSACTION_REVERTED" },
      change,
      facts,
    );
  },
  async unmined({ services, tx, record }, attempt) {
    if (record === undefined) return;
    const inTxHashes = record.inTxHashes.filter((known) => known !== attempt.txHash);
    await transition(services, tx, record, { kind: "executionUnmined" }, { inTxHashes });
  },
  async final({ services, tx, record }) {
    if (record) await transition(services, tx, record, { kind: "executionFinal" });
  },
  async dead({ services, tx, record }, reason) {
    if (record) await transition(services, tx, record, { kind: "executionDead", reason }, {}, { reason });
  },
};

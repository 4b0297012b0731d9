import { RpcFault } from "@causeway/chains";
import { ServiceError } from "@causeway/domain";
import type { Hex, RequestId, TxHash } from "@causeway/domain";
import { expect, test } from "vitest";
import { recheckReports } from "./recheck-reports.ts";

const aHash: Hex = `0x${"11".repeat(32)}`;
const [requestId, txHash]: [RequestId, TxHash] = [aHash, aHash];

/**
 * The requests that count as checked if indexing their transaction ends like this, and the number of faults.
 */
async function recheck(index: () => Promise<unknown>): Promise<{ checked: RequestId[]; faults: number }> {
  let faults = 0;
  const services = {
    reads: { overdueReported: async () => [{ requestId, txHashes: [txHash] }] },
    events: { fault: () => void faults++ },
    index,
  };
  const checked = await recheckReports(services, { chainId: 1, deadlineBeforeMs: 0 });
  return { checked, faults };
}

const refused = (code: "TRANSACTION_NOT_FOUND" | "UNSUPPORTED_CHAIN" | "SERVICE_UNAVAILABLE") => async () => {
  throw new ServiceError(code, "no", { field: "txHash" });
};

test("counts a reported transaction as checked if it was recorded, is unknown to the node, or its chain is not configured", async () => {
  for (const index of [
    async () => "recorded",
    refused("TRANSACTION_NOT_FOUND"),
    refused("UNSUPPORTED_CHAIN"),
  ])
    expect(await recheck(index)).toEqual({ checked: [requestId], faults: 0 });
});

test("does not count a request as checked when indexing its transaction failed", async () => {
  const unreachable = async () => {
    throw new RpcFault({ kind: "deadline", method: "eth_getTransactionReceipt", reason: "no answer" });
  };
  for (const index of [refused("SERVICE_UNAVAILABLE"), unreachable])
    expect(await recheck(index)).toEqual({ checked: [], faults: 1 });
});

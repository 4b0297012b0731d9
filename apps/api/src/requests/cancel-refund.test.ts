import { quotedState } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import type { RequestRecord } from "../db/records.port.ts";
import { refundCancelAfterMs } from "./cancel-refund.ts";

const DEADLINE = 1_000_000;
const NOW_MS = 5_000_000;
const YEAR_MS = 365 * 24 * 3600 * 1000;

const request: RequestRecord = {
  terms: { order: { inputs: [{ refunds: [{ deadline: DEADLINE }] }] } } as unknown as RequestTerms,
  state: quotedState("bridge"),
  inTxHashes: [],
  txHashes: [],
  refundTxHashes: [],
  updatedAtMs: 1,
};

test("an attestable refund is canceled early enough that it is not mined after its deadline", () => {
  const fast = { blockTimeSeconds: 2 };
  expect(refundCancelAfterMs(fast, request, true, NOW_MS)).toBe((DEADLINE - 600) * 1000);
  const slow = { blockTimeSeconds: 600 };
  expect(refundCancelAfterMs(slow, request, true, NOW_MS)).toBe((DEADLINE - 3_600) * 1000);
});

test("a refund that need not be attested stays due past the deadline", () => {
  const chain = { blockTimeSeconds: 2 };
  expect(refundCancelAfterMs(chain, request, false, NOW_MS)).toBe(NOW_MS + YEAR_MS);
  expect(refundCancelAfterMs(chain, undefined, true, NOW_MS)).toBe(NOW_MS + YEAR_MS);
});

import { quotedState } from "@causeway/domain";
import type { RequestTerms } from "@causeway/domain";
import { expect, test } from "vitest";
import type { DepositRecord } from "../db/records.port.ts";
import type { DuePayment } from "./settlement.port.ts";
import { claimOf } from "./payment-claim.ts";

const account = `0x${"a1".repeat(20)}` as const;
const hash = `0x${"b2".repeat(32)}` as const;

const deposit: DepositRecord = {
  id: "1",
  chainId: 1,
  txHash: hash,
  ordinal: 0,
  blockNumber: 1n,
  blockHash: hash,
  canonical: true,
  confirmAtBlock: 1n,
  depositor: account,
  sender: account,
  currency: account,
  amount: 5n,
  orderId: hash,
  requestId: hash,
  disposition: "refund",
  reason: undefined,
  refundState: "final",
  refundFailReason: undefined,
  seenAtMs: 1,
};

function refund(unrepaidReason: string): DuePayment {
  return {
    slotId: "1",
    kind: "refund",
    chainId: 1,
    txHash: hash,
    request: {
      terms: { orderId: hash, order: { solver: account, inputs: [] } } as unknown as RequestTerms,
      state: quotedState("bridge"),
      inTxHashes: [],
      txHashes: [],
      refundTxHashes: [],
      updatedAtMs: 1,
    },
    deposit: { ...deposit, unrepaidReason },
    tries: 0,
  };
}

const chains = { profile: () => undefined };

test("postpones a refund whose order names a solver without a configured key", () => {
  const planned = refund("the order names a solver whose key is not configured");
  expect(claimOf(planned, chains, () => false)).toMatchObject({
    isPermanent: false,
    reason: expect.stringContaining("SOLVER_FORMER_KEYS"),
  });
  // With the key it is treated like any other payment.
  expect(claimOf(planned, chains, () => true)).toMatchObject({
    isPermanent: false,
    reason: expect.stringContaining("chain of the deposit"),
  });
});

test("gives up on a refund that no configuration can make attestable", () => {
  const reason = "the refund deadline of the order has passed";
  expect(claimOf(refund(reason), chains, () => true)).toEqual({ kind: "never", reason, isPermanent: true });
});

test("asks oracles about a refund that was planned shortly before its deadline", () => {
  const planned = refund("the order's time for refunds may end before the refund is mined");
  expect(claimOf(planned, chains, () => true)).toMatchObject({
    isPermanent: false,
    reason: expect.stringContaining("chain of the deposit"),
  });
});

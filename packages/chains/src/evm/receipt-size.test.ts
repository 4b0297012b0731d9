import { expect, test } from "vitest";
import { NodeRefusal, RpcFault } from "@causeway/families";
import { requireReadableReceipt } from "./receipt-size.ts";
import { isTooLarge } from "./rpc-errors.ts";

const hash = `0x${"11".repeat(32)}` as const;
const method = "eth_getTransactionReceipt";

/** Whether a receipt is readable from a node with these answers, and the number of requests. */
async function isReadable(gasLimit: bigint | undefined, answer: () => unknown): Promise<[boolean, number]> {
  let requests = 0;
  const transport = {
    request: async () => {
      requests += 1;
      return answer();
    },
  };
  try {
    await requireReadableReceipt(transport, { hash, ...(gasLimit !== undefined && { gasLimit }) });
    return [true, requests];
  } catch (error) {
    if (isTooLarge(error)) return [false, requests];
    throw error;
  }
}

const tooLarge = (): never => {
  throw new RpcFault({ kind: "tooLarge", method, reason: "the answer exceeds 33554432 bytes" });
};

test("does not read the receipts of ordinary transactions", async () => {
  expect(await isReadable(2n ** 24n, tooLarge)).toEqual([true, 0]);
  expect(await isReadable(undefined, tooLarge)).toEqual([true, 0]);
});

test("reads the receipt of a transaction with a very large gas limit", async () => {
  expect(await isReadable(60_000_000n, () => ({}))).toEqual([true, 1]);
  expect(await isReadable(60_000_000n, tooLarge)).toEqual([false, 1]);
  const refused = (): never => {
    throw new NodeRefusal({ method, nodeCode: -32008, nodeText: "Response is too big", nodeData: undefined });
  };
  expect(await isReadable(60_000_000n, refused)).toEqual([false, 1]);
});

test("rethrows faults other than size, and rejects a missing receipt", async () => {
  for (const kind of ["deadline", "network"] as const) {
    const failing = (): never => {
      throw new RpcFault({ kind, method, reason: "no whole answer" });
    };
    await expect(isReadable(60_000_000n, failing)).rejects.toMatchObject({ kind });
  }
  await expect(
    isReadable(60_000_000n, () => null),
    "a node that lags",
  ).rejects.toMatchObject({ kind: "inconsistent" });
});

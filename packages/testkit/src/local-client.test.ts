import { parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAnvil, type RunningAnvil } from "./anvil.ts";
import {
  createLocalClient,
  LocalTransactionFailed,
  sendPipelined,
  type LocalClient,
} from "./local-client.ts";

let node: RunningAnvil;
let client: LocalClient;
const sender = privateKeyToAccount(`0x${"5d".repeat(32)}`);
const calls = Array.from({ length: 4 }, (_, n) => ({
  label: `call ${n}`,
  to: sender.address,
  data: "0x" as const,
}));

beforeAll(async () => {
  // So long that blocks are mined only on request, by `sendPipelined`.
  node = await startAnvil({ chainId: 72_100_999, blockTimeSeconds: 3_600 });
  client = createLocalClient(node);
  await client.setBalance({ address: sender.address, value: parseEther("10") });
});
afterAll(async () => await node.stop());

/**
 * A client whose node drops some transactions from its pool.
 * @param isDropped gets the number of transactions that the node received before
 */
function createDroppingClient(isDropped: (earlierCount: number) => boolean): LocalClient {
  let received = 0;
  return {
    ...client,
    sendRawTransaction: async (sent) => {
      const hash = await client.sendRawTransaction(sent);
      if (isDropped(received++)) await client.dropTransaction({ hash });
      return hash;
    },
  } as LocalClient;
}

test("resends a transaction that the node's pool dropped, and all are mined in order", async () => {
  const nonce = await client.getTransactionCount({ address: sender.address });
  const receipts = await sendPipelined(
    createDroppingClient((earlierCount) => earlierCount === 1),
    sender,
    calls,
    30_000n,
  );
  expect(receipts.map(({ status }) => status)).toEqual(calls.map(() => "success"));
  expect(await client.getTransactionCount({ address: sender.address })).toBe(nonce + calls.length);
});

test("reports a node that drops all transactions, with the size of its pool", async () => {
  const sent = sendPipelined(
    createDroppingClient(() => true),
    sender,
    calls,
    30_000n,
  );
  await expect(sent).rejects.toThrow(LocalTransactionFailed);
  await expect(sent).rejects.toThrow(/its pool has \d+ pending and \d+ queued/);
});

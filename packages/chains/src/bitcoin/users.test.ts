import type { OrderId } from "@causeway/domain";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { connectBitcoinUsers } from "./users.ts";

test("reads at most 50 outputs of an address, the largest first", async () => {
  const outputs = Array.from({ length: 300 }, (_, n) => ({
    txid: n.toString(16).padStart(64, "0"),
    vout: 0,
    value: 1_000 + n,
    status: { confirmed: true },
  }));
  const sources: string[] = [];
  const explorer = createServer(({ url = "" }, answer) => {
    if (url.endsWith("/hex")) sources.push(url.split("/")[2] ?? "");
    if (url.endsWith("/hex")) answer.writeHead(404);
    answer.end(JSON.stringify(url.endsWith("/utxo") ? outputs : { "2": 3 }));
  });
  await new Promise<void>((resolve) => explorer.listen(0, "127.0.0.1", resolve));
  const users = connectBitcoinUsers({
    chain: { vmType: "bvm", bitcoin: { network: "mainnet" }, depository: `0x00${"75".repeat(20)}` },
    attestation: { bitcoin: { esploraUrl: `http://127.0.0.1:${(explorer.address() as AddressInfo).port}` } },
    now: () => 0,
  });
  if (users === undefined) throw new Error("the explorer is not configured");
  // A legacy address: the amounts of its outputs must be read from the transactions that created them.
  const deposit = {
    user: `0xff00${"11".repeat(20)}`,
    currency: `0x${"00".repeat(20)}`,
    amount: 900n,
  } as const;
  const orderId = `0x${"0a".repeat(32)}` as OrderId;
  expect((await users.deposit({ ...deposit, orderId })).data).toEqual({
    payment: {
      address: "bc1qw46h2at4w46h2at4w46h2at4w46h2at42z30yf",
      amount: "900",
      opReturn: orderId,
      opReturnHex: `0x${Buffer.from(orderId).toString("hex")}`,
    },
  });
  expect(sources.length).toBeGreaterThan(0);
  expect(sources.length).toBeLessThanOrEqual(50);
  // The largest output.
  expect(sources).toContain(outputs.at(-1)?.txid);
  await users.close();
  explorer.close();
});

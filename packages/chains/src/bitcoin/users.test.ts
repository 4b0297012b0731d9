import type { OrderId } from "@causeway/domain";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createBitcoinUsers } from "./users.ts";

test("however many coins lie at an address that anybody may ask about, few are looked at", async () => {
  const coins = Array.from({ length: 300 }, (_, n) => ({
    txid: n.toString(16).padStart(64, "0"),
    vout: 0,
    value: 1_000 + n,
    status: { confirmed: true },
  }));
  const sources: string[] = [];
  const explorer = createServer(({ url = "" }, answer) => {
    if (url.endsWith("/hex")) sources.push(url.split("/")[2] ?? "");
    if (url.endsWith("/hex")) answer.writeHead(404);
    answer.end(JSON.stringify(url.endsWith("/utxo") ? coins : { "2": 3 }));
  });
  await new Promise<void>((resolve) => explorer.listen(0, "127.0.0.1", resolve));
  const users = createBitcoinUsers({
    esploraUrl: `http://127.0.0.1:${(explorer.address() as AddressInfo).port}`,
    network: "mainnet",
    depository: `0x00${"75".repeat(20)}`,
    now: () => 0,
  });
  // A legacy address: the amounts of its outputs must be read from the transactions that made them.
  const deposit = {
    user: `0xff00${"11".repeat(20)}`,
    currency: `0x${"00".repeat(20)}`,
    amount: 900n,
  } as const;
  const orderId = `0x${"0a".repeat(32)}` as OrderId;
  expect(await users.deposit({ ...deposit, orderId })).toMatchObject({ psbt: undefined });
  expect(sources.length).toBeGreaterThan(0);
  expect(sources.length).toBeLessThanOrEqual(50);
  // The largest.
  expect(sources).toContain(coins.at(-1)?.txid);
  await users.close();
  explorer.close();
});

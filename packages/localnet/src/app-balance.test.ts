import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createPublicClient, erc20Abi, http, zeroAddress } from "viem";
import { afterAll, expect, test } from "vitest";
import { localAccount } from "./accounts.ts";
import { startAnvil } from "@causeway/testkit";
import { topUp, topUpCalldata, waitForAppBalance } from "./app-balance.ts";
import { deployLocal } from "./deploy.ts";
import { fundLocal } from "./fund.ts";

const opened: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const [sponsor, solver] = [localAccount("sponsor"), localAccount("solver").address];

test("a top-up of an app balance is a transfer with the marked address appended", () => {
  const transfer = `0xa9059cbb${"0".repeat(24)}${solver.slice(2).toLowerCase()}${"f4240".padStart(64, "0")}`;
  const mark = (credited: string): string => `012345abcdef${credited.slice(2).toLowerCase()}012345abcdef`;
  for (const credited of [sponsor.address, zeroAddress])
    expect(topUpCalldata({ solver, amount: 1_000_000n, credited })).toBe(transfer + mark(credited));
});

test("the token executes a transfer with the appended address like any other transfer", async () => {
  const node = await startAnvil({ chainId: 72_100_117, blockTimeSeconds: 1 });
  opened.push(async () => await node.stop());
  const { tokens } = await deployLocal(node);
  const token = tokens[0]?.address ?? zeroAddress;
  await fundLocal(node, [
    { address: sponsor.address, nativeWei: 10n ** 18n, tokens: [{ token, amount: 7n }] },
  ]);
  await topUp(node, { token, amount: 5n, from: sponsor, solver, credited: sponsor.address });
  const client = createPublicClient({ transport: http(node.url) });
  const balances = await Promise.all(
    [sponsor.address, solver].map(
      async (holder) =>
        await client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [holder],
        }),
    ),
  );
  expect(balances).toEqual([2n, 5n]);
});

test("waits for the amount of this token, and reports the current amount at the deadline", async () => {
  const token = "0xD416ea5F70f471FD77D0A3D5D3BB18982E72656f";
  let amount = 0;
  const server = createServer((_request, response) => {
    amount += 10;
    const entry = (address: string, text: string): object => ({ currency: { address }, amount: text });
    response.end(
      JSON.stringify({
        balances: [entry(zeroAddress, "1000000"), entry(token.toLowerCase(), String(amount))],
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(async () => await new Promise((resolve) => server.close(resolve)));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const expected = { wallet: sponsor.address, token, amount: 30n } as const;
  expect(await waitForAppBalance(url, expected, AbortSignal.timeout(10_000))).toBe(30n);
  await expect(waitForAppBalance(url, { ...expected, amount: 10_000n }, AbortSignal.abort())).rejects.toThrow(
    "is 40, expected 10000",
  );
});

import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { decodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import { expect, test } from "vitest";
import { readAccountBalances } from "./deposit-address-balances.ts";
import { readPaymentsTo } from "./deposit-address-payments.ts";
import type { RpcTransport } from "../nodes/transport.ts";

const abi = parseAbi([
  "struct Call { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call[] calls) payable returns (Result[] results)",
]);
const multicall3: Address = `0x${"ca".repeat(20)}`;
const token: Address = `0x${"11".repeat(20)}`;
const broken: Address = `0x${"22".repeat(20)}`;
const silent: Address = `0x${"33".repeat(20)}`;

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;

/** A node on which every account has 7 of each currency; one token reverts and one returns no data. */
function createNode(): {
  transport: Pick<RpcTransport, "request">;
  requests: { calls: number; block: unknown }[];
} {
  const requests: { calls: number; block: unknown }[] = [];
  return {
    requests,
    transport: {
      request: async (_method, params) => {
        const [{ data }, block] = params as [{ data: Hex }, unknown];
        const { args } = decodeFunctionData({ abi, data });
        requests.push({ calls: args[0].length, block });
        const result = args[0].map(({ target }) => ({
          success: target.toLowerCase() !== broken,
          returnData: target.toLowerCase() === silent ? ("0x" as const) : word(7),
        }));
        return encodeFunctionResult({ abi, functionName: "aggregate3", result });
      },
    },
  };
}

const account = (n: number): Address => `0x${n.toString(16).padStart(40, "0")}`;

test("reads balances of many accounts at one block in few calls, and a token that fails affects only its own", async () => {
  const { transport, requests } = createNode();
  const accounts = Array.from({ length: 500 }, (_, n) => account(n + 1));
  const currencies = [NATIVE_CURRENCY, token, broken, silent];
  const amounts = await readAccountBalances(transport, multicall3, { accounts, currencies, atBlock: 255n });
  expect(requests).toEqual([
    { calls: 1_500, block: "0xff" },
    { calls: 500, block: "0xff" },
  ]);
  expect(amounts).toHaveLength(2_000);
  for (const { currency, amount } of amounts)
    expect(amount).toBe(currency === broken || currency === silent ? undefined : 7n);
  expect(new Set(amounts.map((balance) => balance.account)).size).toBe(500);
});

test("sends no request without accounts, and reads whole blocks for native payments only if they are few", async () => {
  const { transport, requests } = createNode();
  expect(
    await readAccountBalances(transport, multicall3, { accounts: [], currencies: [token], atBlock: 1n }),
  ).toEqual([]);
  const native = { account: account(1), currency: NATIVE_CURRENCY };
  expect(await readPaymentsTo(transport as RpcTransport, native, { from: 1n, to: 17n })).toBeUndefined();
  expect(requests).toEqual([]);
});

import { encodeFunctionData, parseAbi } from "viem";
import { expect, test } from "vitest";
import type { Address, Hex } from "../ids/hex.ts";
import { multicallCalldata, pullAndRouteCalldata, routerCalls } from "./router-calldata.ts";

const abi = parseAbi([
  "struct Call { address to; bytes data; uint256 value; bool allowFailure; }",
  "function multicall(Call[] calls, address refundTo, address[] refundTokens)",
  "function pullAndRoute(address token, uint256 amount, Call[] calls, address refundTo, address[] refundTokens)",
  "function depositBalance(address depository, address depositor, address currency, uint256 minimum, bytes32 id)",
  "function payBalance(address currency, address to, uint256 minimum)",
  "function unwrapBalance(address wrapped, uint256 minimum)",
  "function wrapBalance(address wrapped)",
  "function noteBalance(address currency, address account)",
  "function requireReceived(address currency, address account, uint256 amount)",
]);

const [a, b, c]: readonly [Address, Address, Address] = [
  `0x${"a1".repeat(20)}`,
  `0x${"b2".repeat(20)}`,
  `0x${"c3".repeat(20)}`,
];
const id: Hex = `0x${"0d".repeat(32)}`;

test.each([0, 1, 3, 32, 33, 64])("encodes calls with %i bytes of data like an ABI encoder", (bytes) => {
  const calls = [
    { to: a, data: `0x${"7e".repeat(bytes)}` as Hex, value: 5n },
    { to: b, data: "0x" as Hex, value: 0n },
  ];
  const args = calls.map((call) => ({ ...call, allowFailure: false }));
  for (const list of [calls, calls.slice(0, 1), []])
    for (const refundTokens of [[], [b, c]]) {
      const job = { calls: list, refundTo: c, refundTokens };
      expect(multicallCalldata(job)).toBe(
        encodeFunctionData({
          abi,
          functionName: "multicall",
          args: [args.slice(0, list.length), c, refundTokens],
        }),
      );
      expect(pullAndRouteCalldata(a, 10n ** 30n, job)).toBe(
        encodeFunctionData({
          abi,
          functionName: "pullAndRoute",
          args: [a, 10n ** 30n, args.slice(0, list.length), c, refundTokens],
        }),
      );
    }
});

test("encodes the router's calls to itself like an ABI encoder", () => {
  expect(routerCalls.depositBalance(a, b, c, 7n, id)).toBe(
    encodeFunctionData({ abi, functionName: "depositBalance", args: [a, b, c, 7n, id] }),
  );
  expect(routerCalls.payBalance(a, b, 7n)).toBe(
    encodeFunctionData({ abi, functionName: "payBalance", args: [a, b, 7n] }),
  );
  expect(routerCalls.unwrapBalance(a, 7n)).toBe(
    encodeFunctionData({ abi, functionName: "unwrapBalance", args: [a, 7n] }),
  );
  expect(routerCalls.wrapBalance(a)).toBe(
    encodeFunctionData({ abi, functionName: "wrapBalance", args: [a] }),
  );
  expect(routerCalls.noteBalance(a, b)).toBe(
    encodeFunctionData({ abi, functionName: "noteBalance", args: [a, b] }),
  );
  expect(routerCalls.requireReceived(a, b, 7n)).toBe(
    encodeFunctionData({ abi, functionName: "requireReceived", args: [a, b, 7n] }),
  );
});

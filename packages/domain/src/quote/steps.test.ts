import { encodeFunctionData, parseAbi } from "viem";
import { expect, test } from "vitest";
import { NATIVE_CURRENCY } from "../ids/hex.ts";
import { depositGas, depositSteps, routedGas, routedSteps, sendSteps } from "./steps.ts";
import type { DepositFacts, RoutedFacts, SendFacts } from "./steps.ts";

const abi = parseAbi([
  "function depositNative(address depositor, bytes32 id)",
  "function depositErc20(address depositor, address token, uint256 amount, bytes32 id)",
  "function approve(address spender, uint256 amount)",
  "function transfer(address to, uint256 amount)",
]);

const user = "0x1111111111111111111111111111111111111111";
const token = "0x2222222222222222222222222222222222222222";
const depository = "0x3333333333333333333333333333333333333333";
const recipient = "0x4444444444444444444444444444444444444444";
const orderId = `0x${"ab".repeat(32)}` as const;
const requestId = `0x${"cd".repeat(32)}` as const;

const facts: DepositFacts = {
  requestId,
  orderId,
  chainId: 31_001,
  user,
  depository,
  currency: token,
  symbol: "USDC",
  amount: 1_500_000n,
  amountFormatted: "1.5",
  allowance: 0n,
  resetsApproval: false,
  explicitDeposit: true,
  gas: {
    approve: 46_000n,
    depositNative: 30_000n,
    depositErc20: 60_000n,
    transferErc20: 52_000n,
    transferNative: 21_000n,
    sendNative: 50_000n,
    sendNativeToContract: 70_000n,
  },
  maxFeePerGas: 20n,
  maxPriorityFeePerGas: 2n,
  includesGas: true,
};
const check = { endpoint: `/intents/status/v3?requestId=${requestId}`, method: "GET" };
const approvalOf = (amount: bigint) =>
  encodeFunctionData({ abi, functionName: "approve", args: [depository, amount] });
const deposit = encodeFunctionData({
  abi,
  functionName: "depositErc20",
  args: [user, token, 1_500_000n, orderId],
});

test("a native deposit is one transaction that carries the value", () => {
  const steps = depositSteps({ ...facts, currency: NATIVE_CURRENCY });
  expect(steps.map((step) => step.id)).toEqual(["deposit"]);
  expect(steps[0]!.items).toEqual([
    {
      status: "incomplete",
      data: {
        from: user,
        to: depository,
        data: encodeFunctionData({ abi, functionName: "depositNative", args: [user, orderId] }),
        value: "1500000",
        chainId: 31_001,
        gas: "60000",
        maxFeePerGas: "20",
        maxPriorityFeePerGas: "2",
      },
      check,
    },
  ]);
});

test("approves exactly the amount, without a check, before a token deposit with one", () => {
  const steps = depositSteps({ ...facts, allowance: 1_499_999n });
  expect(steps.map((step) => step.id)).toEqual(["approve", "deposit"]);
  const [approval, depositItem] = steps.map((step) => step.items[0]!);
  expect(approval!.data).toMatchObject({
    from: user,
    to: token,
    data: approvalOf(1_500_000n),
    value: "0",
    gas: "92000",
  });
  expect(approval).not.toHaveProperty("check");
  expect(depositItem!.data).toMatchObject({ from: user, to: depository, data: deposit, value: "0" });
  expect(depositItem!.data).not.toHaveProperty("gas");
  expect(depositItem!.check).toEqual(check);
});

test("a sufficient allowance needs no approval, and the deposit's gas is known", () => {
  const steps = depositSteps({ ...facts, allowance: 1_500_000n });
  expect(steps.map((step) => step.id)).toEqual(["deposit"]);
  expect(steps[0]!.items[0]!.data.gas).toBe("120000");
});

test("resets a non-zero allowance first for a token that refuses to change it", () => {
  const quirky = { ...facts, resetsApproval: true };
  const data = (allowance: bigint) =>
    depositSteps({ ...quirky, allowance }).map((step) => step.items[0]!.data.data);
  expect(data(1n)).toEqual([approvalOf(0n), approvalOf(1_500_000n), deposit]);
  expect(data(0n)).toEqual([approvalOf(1_500_000n), deposit]);
  expect(data(1_500_000n)).toEqual([deposit]);
});

test("an implicit token deposit is one transfer to the depository that ends with the order id", () => {
  const steps = depositSteps({ ...facts, explicitDeposit: false });
  expect(steps.map((step) => step.id)).toEqual(["deposit"]);
  const transfer = encodeFunctionData({ abi, functionName: "transfer", args: [depository, 1_500_000n] });
  expect(steps[0]!.items[0]!.data).toMatchObject({
    to: token,
    data: transfer + orderId.slice(2),
    value: "0",
    gas: "104000",
  });
});

test("a send pays the recipient directly: tokens with the request id after the calldata, native tokens with it as calldata", () => {
  const transfer = encodeFunctionData({ abi, functionName: "transfer", args: [recipient, 1_500_000n] });
  const send: SendFacts = { ...facts, recipient, toContract: false, router: depository };
  const [tokens] = sendSteps(send);
  expect(tokens!.id).toBe("send");
  expect(tokens!.items[0]!.data).toMatchObject({
    to: token,
    data: transfer + requestId.slice(2),
    value: "0",
  });
  expect(tokens!.items[0]!.check).toEqual(check);
  const [native] = sendSteps({ ...send, currency: NATIVE_CURRENCY });
  expect(native!.items[0]!.data).toMatchObject({
    to: recipient,
    data: requestId,
    value: "1500000",
    gas: "100000",
  });
  // Contracts may refuse calldata: the router pays them without any.
  const [toContract] = sendSteps({ ...send, currency: NATIVE_CURRENCY, toContract: true });
  const routerAbi = parseAbi(["function nativeTransfer(address to, uint256 amount)"]);
  const call = encodeFunctionData({
    abi: routerAbi,
    functionName: "nativeTransfer",
    args: [recipient, 1_500_000n],
  });
  expect(toContract!.items[0]!.data).toMatchObject({
    to: depository,
    data: call + requestId.slice(2),
    value: "1500000",
    gas: "140000",
  });
});

test("every step names the request and is incomplete", () => {
  for (const step of [
    ...depositSteps(facts),
    ...sendSteps({ ...facts, recipient, toContract: false, router: depository }),
  ]) {
    expect(step.requestId).toBe(requestId);
    expect(step.depositAddress).toBe("");
    expect(step.items.map((item) => item.status)).toEqual(["incomplete"]);
  }
});

test("the gas of a deposit counts every transaction it takes", () => {
  expect(depositGas(facts)).toBe(106_000n);
  expect(depositGas({ ...facts, allowance: 1_500_000n })).toBe(60_000n);
  expect(depositGas({ ...facts, allowance: 1n, resetsApproval: true })).toBe(152_000n);
  expect(depositGas({ ...facts, explicitDeposit: false })).toBe(52_000n);
  expect(depositGas({ ...facts, currency: NATIVE_CURRENCY })).toBe(30_000n);
});

test("steps contain no gas if it cannot be estimated in advance", () => {
  for (const currency of [NATIVE_CURRENCY, token] as const)
    for (const step of depositSteps({ ...facts, currency, includesGas: false }))
      for (const { data } of step.items) expect(data).not.toHaveProperty("gas");
});

const routed: RoutedFacts = {
  ...facts,
  id: "swap",
  description: "Swap 1.5 USDC for WETH",
  to: depository,
  data: "0x1234",
  gasUnits: 200_000n,
  approvalProxy: recipient,
  allowance: 0n,
};

test("approves a token only for the proxy in a transaction through the router", () => {
  const [approval, swap] = routedSteps(routed);
  expect([approval!.id, swap!.id]).toEqual(["approve", "swap"]);
  expect(approval!.items[0]!.data.data).toBe(
    encodeFunctionData({ abi, functionName: "approve", args: [recipient, 1_500_000n] }),
  );
  expect(swap!.items[0]!.data).toMatchObject({ to: depository, data: "0x1234", value: "0" });
  expect(swap!.items[0]!.data).not.toHaveProperty("gas");
  expect(swap!.items[0]!.check).toEqual(check);
  expect(routedGas(routed)).toBe(246_000n);
});

test("a transaction through the router with native tokens carries the value and needs no approval", () => {
  const native = { ...routed, id: "deposit", currency: NATIVE_CURRENCY } as const;
  const [deposited, ...otherSteps] = routedSteps(native);
  expect(otherSteps).toEqual([]);
  expect(deposited).toMatchObject({ id: "deposit", description: "Swap 1.5 USDC for WETH" });
  expect(deposited!.items[0]!.data).toMatchObject({ value: "1500000", gas: "400000" });
  expect(routedGas(native)).toBe(200_000n);
});

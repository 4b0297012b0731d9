import { encodeAbiParameters, encodeFunctionData, erc20Abi, toEventSelector } from "viem";
import { expect, test } from "vitest";
import { depositoryAbi } from "@causeway/contracts";
import { encodeEvmCallRequest, NATIVE_CURRENCY, type EvmCall, type Hex } from "@causeway/domain";
import {
  alice,
  bob,
  dai,
  depository,
  logsOf,
  transfer,
  usdc,
  type EmittedLog,
} from "../../test/event-logs.ts";
import { CALL_EXECUTED_TOPIC, executionIn, readWithdrawal } from "@causeway/families/evm";

const transferData = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [alice, 9n] });
const tokenCall: EvmCall = { to: usdc, data: transferData, value: 0n, allowFailure: false };
const nativeCall: EvmCall = { to: alice, data: "0x", value: 9n, allowFailure: false };
const payloadOf = (...calls: EvmCall[]): Hex =>
  encodeEvmCallRequest({ calls, nonce: 1n, expiration: 2_000n });

test("reads the payment and the expiration of one native payment or token transfer", () => {
  expect(readWithdrawal(payloadOf(nativeCall))).toMatchObject({
    recipient: alice,
    currency: NATIVE_CURRENCY,
    amount: 9n,
    expiration: 2_000n,
  });
  expect(readWithdrawal(payloadOf(tokenCall))).toMatchObject({
    recipient: alice,
    currency: usdc,
    amount: 9n,
  });
});

const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [alice, 9n] });
test.each<[string, Hex]>([
  ["no calls", payloadOf()],
  ["several calls", payloadOf(nativeCall, nativeCall)],
  ["a call that may fail", payloadOf({ ...nativeCall, allowFailure: true })],
  ["another function", payloadOf({ ...tokenCall, data: approve })],
  ["bytes behind the arguments", payloadOf({ ...tokenCall, data: `${transferData}00` })],
  ["fewer bytes", payloadOf({ ...tokenCall, data: transferData.slice(0, -2) as Hex })],
  [
    "dirt before the recipient",
    payloadOf({ ...tokenCall, data: transferData.replace("0xa9059cbb00", "0xa9059cbb01") as Hex }),
  ],
  ["value along with a transfer", payloadOf({ ...tokenCall, value: 1n })],
  ["a transfer of the native coin's address", payloadOf({ ...tokenCall, to: NATIVE_CURRENCY })],
  ["nothing of the native coin", payloadOf({ ...nativeCall, value: 0n })],
  [
    "nothing of a token",
    payloadOf({
      ...tokenCall,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [alice, 0n] }),
    }),
  ],
  ["no encoding at all", "0x1234"],
])("rejects a withdrawal payload with %s", (_what, payload) => {
  expect(readWithdrawal(payload)).toHaveProperty("refusal");
});

const paymentOf = (
  call: EvmCall,
  nonce = 1n,
): Exclude<ReturnType<typeof readWithdrawal>, { refusal: string }> => {
  const read = readWithdrawal(encodeEvmCallRequest({ calls: [call], nonce, expiration: 2_000n }));
  if ("refusal" in read) throw new Error(read.refusal);
  return read;
};

const callType = {
  type: "tuple",
  components: [{ type: "address" }, { type: "bytes" }, { type: "uint256" }, { type: "bool" }],
} as const;
function callExecuted(id: Hex, call: EvmCall, emitter = depository): EmittedLog {
  const fields = [call.to, call.data, call.value, call.allowFailure] as const;
  const data = encodeAbiParameters([{ type: "bytes32" }, callType], [id, fields]);
  return { address: emitter, topics: [CALL_EXECUTED_TOPIC], data };
}

test("the topic of the depository's event matches its ABI", () => {
  const event = depositoryAbi.find((item) => item.type === "event" && item.name === "CallExecuted");
  if (event?.type !== "event") throw new Error("no such event");
  expect(toEventSelector(event)).toBe(CALL_EXECUTED_TOPIC);
});

test("does not prove an executed withdrawal whose token returned false", () => {
  const payment = paymentOf(tokenCall);
  const report = callExecuted(payment.id, tokenCall);
  const transferred = transfer(usdc, depository, alice, 9n);
  expect(executionIn(logsOf(transferred, report), depository, payment)).toBe("paid");
  expect(executionIn(logsOf(report), depository, payment)).toBe("movedNothing");
  expect(executionIn(logsOf(report, transferred), depository, payment)).toBe("movedNothing");
  for (const otherTransfer of [
    transfer(dai, depository, alice, 9n),
    transfer(usdc, depository, bob, 9n),
    transfer(usdc, bob, alice, 9n),
    transfer(usdc, depository, alice, 0n),
  ])
    expect(executionIn(logsOf(otherTransfer, report), depository, payment)).toBe("movedNothing");
});

test("one Transfer does not prove two withdrawals in one transaction", () => {
  const [first, second] = [paymentOf(tokenCall, 1n), paymentOf(tokenCall, 2n)];
  const transferred = transfer(usdc, depository, alice, 9n);
  const logs = logsOf(transferred, callExecuted(first.id, tokenCall), callExecuted(second.id, tokenCall));
  expect(executionIn(logs, depository, first)).toBe("paid");
  expect(executionIn(logs, depository, second)).toBe("movedNothing");
});

test("a transfer fee, or a deposit in between, does not disprove a withdrawal", () => {
  const payment = paymentOf(tokenCall);
  const logs = logsOf(
    transfer(usdc, bob, depository, 500n),
    transfer(usdc, depository, alice, 8n),
    callExecuted(payment.id, tokenCall),
  );
  expect(executionIn(logs, depository, payment)).toBe("paid");
});

test("ignores reports of another request or by a look-alike", () => {
  const payment = paymentOf(tokenCall);
  const transferred = transfer(usdc, depository, alice, 9n);
  expect(
    executionIn(logsOf(transferred, callExecuted(payment.id, tokenCall, bob)), depository, payment),
  ).toBe("notHere");
  expect(
    executionIn(
      logsOf(transferred, callExecuted(paymentOf(tokenCall, 2n).id, tokenCall)),
      depository,
      payment,
    ),
  ).toBe("notHere");
});

import { concat, encodeErrorResult, type Address, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, id, zeroAddress } from "../test/calls.ts";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import { receiverAbi, receiverBytecode } from "./index.ts";

const { user } = accounts;
const solver = freshAddress(1);

let chain: TestChain;
let receiver: Address;

function errorData(errorName: "IdMissing" | "ForwardFailed" | "AddressCannotBeZero"): Hex {
  return encodeErrorResult({ abi: receiverAbi, errorName });
}

beforeAll(async () => {
  chain = await startTestChain();
  receiver = await chain.deploy(receiverAbi, receiverBytecode, [solver]);
});
afterAll(async () => await chain.stop());

test("native token sent with an id reaches the solver, and the id is emitted", async () => {
  const receipt = await chain.send(user, { to: receiver, data: id, value: 21n });
  expect(eventsOf(receipt, receiver, receiverAbi, "NativeForwarded")).toEqual([
    { from: user.address, amount: 21n, id },
  ]);
  expect(await chain.nativeBalance(solver)).toBe(21n);
  expect(await chain.nativeBalance(receiver)).toBe(0n);
});

test.each<[string, Hex]>([
  ["no data", "0x"],
  ["less than an id", "0x1d1d"],
  ["more than an id", concat([id, "0x00"])],
])("refuses native token sent with %s", async (_with, data) => {
  expect(await chain.revertOf(user, { to: receiver, data, value: 1n })).toBe(errorData("IdMissing"));
});

test("reverts if the solver cannot be paid", async () => {
  const probe = await chain.deploy(probeAbi, probeBytecode);
  const unpayable = await chain.deploy(receiverAbi, receiverBytecode, [probe]);
  expect(await chain.revertOf(user, { to: unpayable, data: id, value: 1n })).toBe(errorData("ForwardFailed"));
});

test("returns its solver, and cannot be deployed with the zero address as the solver", async () => {
  // The getter's selector is four bytes, so no 32-byte id can be taken for it.
  const storedSolver = await chain.client.readContract({
    address: receiver,
    abi: receiverAbi,
    functionName: "solver",
  });
  expect(storedSolver).toBe(solver);
  expect(await chain.deployRevertOf(receiverAbi, receiverBytecode, [zeroAddress])).toBe(
    errorData("AddressCannotBeZero"),
  );
});

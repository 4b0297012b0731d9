import {
  encodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  parseEventLogs,
  type Abi,
  type Address,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { accounts, type TestChain } from "./chain.ts";
import { probeAbi } from "../src/generated/probe.ts";
import { routerAbi, testTokenAbi, testTokenBytecode } from "../src/index.ts";

/** The `Call` of Call.sol. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly allowFailure: boolean;
}

export const zeroAddress: Address = `0x${"00".repeat(20)}`;
export const id: Hex = `0x${"1d".repeat(32)}`;
/** The error of every contract with a lock when it is reentered. */
export const reenteredError = encodeErrorResult({
  abi: [{ type: "error", name: "ReentrancyGuardReentrantCall", inputs: [] }],
});

export function call(to: Address, data: Hex = "0x", value = 0n): Call {
  return { to, data, value, allowFailure: false };
}

export function poke(number: bigint): Hex {
  return encodeFunctionData({ abi: probeAbi, functionName: "poke", args: [number] });
}

export function refuse(code: bigint): Hex {
  return encodeFunctionData({ abi: probeAbi, functionName: "refuse", args: [code] });
}

export function refusedError(code: bigint): Hex {
  return encodeErrorResult({ abi: probeAbi, errorName: "Refused", args: [code, "refused"] });
}

export function approve(spender: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] });
}

export function transfer(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
}

export function mint(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: testTokenAbi, functionName: "mint", args: [to, amount] });
}

/** The Router's own payment, as a call of its multicall or directly. */
export function nativeTransfer(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: "nativeTransfer", args: [to, amount] });
}

/** The Router's record of a balance, as a call of its multicall. */
export function noteBalance(currency: Address, account: Address): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: "noteBalance", args: [currency, account] });
}

/** The Router's check that a balance has grown since it was recorded, as a call of its multicall. */
export function requireReceived(currency: Address, account: Address, amount: bigint): Hex {
  return encodeFunctionData({
    abi: routerAbi,
    functionName: "requireReceived",
    args: [currency, account, amount],
  });
}

/** The Router's deposit of its whole balance, as a call of its multicall. */
export function depositBalance(
  depository: Address,
  depositor: Address,
  currency: Address,
  minimum: bigint,
  orderId: Hex = id,
): Hex {
  return encodeFunctionData({
    abi: routerAbi,
    functionName: "depositBalance",
    args: [depository, depositor, currency, minimum, orderId],
  });
}

/** The Router's payment of its whole balance, as a call of its multicall. */
export function payBalance(currency: Address, to: Address, minimum: bigint): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: "payBalance", args: [currency, to, minimum] });
}

export function unwrapBalance(wrapped: Address, minimum: bigint): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: "unwrapBalance", args: [wrapped, minimum] });
}

export function wrapBalance(wrapped: Address): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: "wrapBalance", args: [wrapped] });
}

/** The arguments of the events called `name` that `emitter` emitted, in order. */
export function eventsOf(
  receipt: TransactionReceipt,
  emitter: Address,
  abi: Abi,
  name: string,
): readonly unknown[] {
  const logs = receipt.logs.filter((log) => log.address.toLowerCase() === emitter.toLowerCase());
  return parseEventLogs({ abi, logs, eventName: name }).map((event) => (event as { args?: unknown }).args);
}

/** A new token; the user has `amount` and has approved all of it to `spender`. */
export async function deployApprovedToken(
  chain: TestChain,
  spender: Address,
  amount: bigint,
  contract: { readonly abi: Abi; readonly bytecode: Hex } = {
    abi: testTokenAbi,
    bytecode: testTokenBytecode,
  },
): Promise<Address> {
  const hasNames = contract.bytecode === testTokenBytecode;
  const token = await chain.deploy(contract.abi, contract.bytecode, hasNames ? ["Test", "TEST"] : []);
  await chain.send(accounts.deployer, { to: token, data: mint(accounts.user.address, amount) });
  await chain.send(accounts.user, { to: token, data: approve(spender, amount) });
  return token;
}

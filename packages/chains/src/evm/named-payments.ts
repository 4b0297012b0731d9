import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { decodeFunctionData, erc20Abi, getAbiItem, toFunctionSelector } from "viem";
import type { TransactionFact } from "../family.ts";

/** What a transaction's calldata says that its sender pays. Pure. */

export interface NamedPayment {
  /** Zero address = native. */
  readonly currency: Address;
  readonly recipient: Address;
  /** Base units. */
  readonly amount: bigint;
}

/** Payments that the sender of a transaction signed: each by its recipient, currency and amount. */
export interface NamedPayments {
  /** Whose Transfers pay tokens: the sender itself, or the fill contract that it called. */
  readonly payer: Address;
  /** Undefined: the function is unknown, so only the fill contract's own events say what it paid. */
  readonly payments: readonly NamedPayment[] | undefined;
  /** The transaction calls the order's fill contract with money of its sender, so the events of that contract count. */
  readonly isThroughFillContract: boolean;
}

type Transaction = Pick<TransactionFact, "from" | "to" | "input" | "value">;

const nothing = (payer: Address): NamedPayments => ({ payer, payments: [], isThroughFillContract: false });

/** Functions of the approval proxy that spend what somebody else signed for: anyone can submit them. */
const SIGNED_ROUTES: ReadonlySet<string> = new Set(
  [
    getAbiItem({ abi: approvalProxyAbi, name: "permit2Route" }),
    getAbiItem({ abi: approvalProxyAbi, name: "authorizationRoute" }),
  ].map((item) => toFunctionSelector(item)),
);
const TRANSFER = toFunctionSelector(getAbiItem({ abi: erc20Abi, name: "transfer" }));

/**
 * What a transaction names as payments of its sender.
 *
 * A direct call names its own `transfer`. A call of a trusted fill contract (the router, or its approval proxy) names the transfers that the router itself
 * makes: what else its calls move may be the recipient's own trade, claim or withdrawal, which anyone can trigger.
 *
 * @param fillContract the order's, if the operator trusts it
 * @param trusted every contract that the operator trusts, approval proxies among them
 */
export function namedPayments(
  transaction: Transaction,
  orderId: Hex,
  fillContract: Address | undefined,
  trusted: readonly Address[],
): NamedPayments {
  const { from, to, input, value } = transaction;
  if (to === undefined) return nothing(from);
  if (input === orderId)
    return { ...nothing(from), payments: [{ currency: NATIVE_CURRENCY, recipient: to, amount: value }] };
  if (fillContract === undefined || (to !== fillContract && !trusted.includes(to)))
    return { ...nothing(from), payments: transferIn(to, input) };
  if (SIGNED_ROUTES.has(selectorOf(input))) return nothing(from);
  const calls = to === fillContract ? callsOfRouter(to, input, value) : callsOfProxy(input);
  if (calls === undefined && to !== fillContract) return nothing(from);
  return {
    payer: fillContract,
    payments: calls?.flatMap((call) => paymentsOf(fillContract, call)),
    isThroughFillContract: true,
  };
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly allowFailure: boolean;
}

/** Undefined: none of the router's functions that the sender of a transaction may call. */
function callsOfRouter(router: Address, input: Hex, value: bigint): readonly Call[] | undefined {
  const call = decoded(() => decodeFunctionData({ abi: routerAbi, data: input }));
  if (call?.functionName === "multicall") return call.args[0];
  if (call?.functionName === "nativeTransfer" && call.args[1] === value)
    return [{ to: router, data: input, allowFailure: false }];
  return undefined;
}

function callsOfProxy(input: Hex): readonly Call[] | undefined {
  const call = decoded(() => decodeFunctionData({ abi: approvalProxyAbi, data: input }));
  return call?.functionName === "pullAndRoute" ? call.args[2] : undefined;
}

/** A call that may fail names nothing: it may have failed. */
function paymentsOf(router: Address, { to, data, allowFailure }: Call): readonly NamedPayment[] {
  const target = lower(to);
  if (allowFailure) return [];
  if (target !== router) return transferIn(target, data);
  const call = decoded(() => decodeFunctionData({ abi: routerAbi, data }));
  if (call?.functionName === "nativeTransfer")
    return [{ currency: NATIVE_CURRENCY, recipient: lower(call.args[0]), amount: call.args[1] }];
  if (call?.functionName === "payBalance")
    return [{ currency: lower(call.args[0]), recipient: lower(call.args[1]), amount: call.args[2] }];
  return [];
}

/** Only the low 20 bytes of the recipient's word count: Tron's wallets write the chain's prefix before them. */
function transferIn(token: Address, data: Hex): readonly NamedPayment[] {
  if (selectorOf(data) !== TRANSFER || data.length < 2 + 2 * 68) return [];
  const recipient: Address = `0x${data.slice(2 + 2 * 16, 2 + 2 * 36)}`;
  return [{ currency: token, recipient, amount: BigInt(`0x${data.slice(2 + 2 * 36, 2 + 2 * 68)}`) }];
}

function selectorOf(data: Hex): string {
  return data.slice(0, 10);
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}

/** Undefined when the calldata is not of this contract. */
function decoded<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

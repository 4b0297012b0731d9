import type { CallPlan } from "@causeway/chains";
import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Chain, Hex } from "@causeway/domain";
import { decodeFunctionData, erc20Abi, toFunctionSelector, type Abi } from "viem";

/** Reads from the bytes of a call what it debits from its sender, and who receives it. Pure. */

/** The service's contracts that payments go through. Absent: no payment goes through the contract. */
export type PayingContracts = Partial<Pick<Chain["contracts"], "router" | "approvalProxy">>;

export type CallReading =
  /** One payment. */
  | {
      readonly kind: "payment";
      readonly currency: Address;
      readonly amount: bigint;
      readonly recipient: Address;
      /** The last 32 bytes of the input, which name a payment's order. Undefined: the input has none. */
      readonly reference: Hex | undefined;
    }
  /** Calls of the router, which gets `spent` and `value` from the sender. */
  | {
      readonly kind: "routed";
      readonly spent: Spent;
      /** Native tokens in addition to `spent`, wei. */
      readonly value: bigint;
      readonly calls: readonly CallPlan[];
      /** Receives the remainder of the calls. */
      readonly remainderTo: Address;
      readonly reference: Hex | undefined;
    }
  | { readonly kind: "unknown" };

export interface Spent {
  readonly currency: Address;
  /** Base units. */
  readonly amount: bigint;
}

const WORD = 64;
const TOKEN = bySelector(erc20Abi);
const ROUTER = bySelector(routerAbi);
const APPROVAL_PROXY = bySelector(approvalProxyAbi);

export function readCall({ to, data, value }: CallPlan, contracts: PayingContracts): CallReading {
  // The whole input of a direct payment is its order id.
  if (data === "0x" || data.length === 2 + WORD)
    return {
      kind: "payment",
      currency: NATIVE_CURRENCY,
      amount: value,
      recipient: to,
      reference: referenceOf(data),
    };
  if (to === contracts.approvalProxy) return readPull(data, value);
  if (to === contracts.router) return readRouter(data, value);
  const transfer = tryDecode(TOKEN, data);
  if (transfer?.functionName !== "transfer" || value !== 0n) return { kind: "unknown" };
  const [recipient, amount] = transfer.args as readonly [Address, bigint];
  const reference = referenceOf(data, 8 + 2 * WORD);
  return { kind: "payment", currency: to, amount, recipient: lower(recipient), reference };
}

function readPull(data: Hex, value: bigint): CallReading {
  const pull = tryDecode(APPROVAL_PROXY, data);
  if (pull?.functionName !== "pullAndRoute") return { kind: "unknown" };
  const [currency, amount, calls, remainderTo] = pull.args as unknown as Pull;
  return {
    kind: "routed",
    spent: { currency: lower(currency), amount },
    value,
    calls: calls.map(plain),
    remainderTo: lower(remainderTo),
    reference: referenceOf(data),
  };
}

function readRouter(data: Hex, value: bigint): CallReading {
  const call = tryDecode(ROUTER, data);
  if (call?.functionName === "nativeTransfer") {
    const [recipient, amount] = call.args as unknown as readonly [Address, bigint];
    // The router keeps the difference, which anyone could take from it.
    if (amount !== value) return { kind: "unknown" };
    const reference = referenceOf(data, 8 + 2 * WORD);
    return { kind: "payment", currency: NATIVE_CURRENCY, amount, recipient: lower(recipient), reference };
  }
  if (call?.functionName !== "multicall") return { kind: "unknown" };
  const [calls, remainderTo] = call.args as unknown as Multicall;
  return {
    kind: "routed",
    spent: { currency: NATIVE_CURRENCY, amount: value },
    value: 0n,
    calls: calls.map(plain),
    remainderTo: lower(remainderTo),
    reference: referenceOf(data),
  };
}

type Pull = readonly [Address, bigint, readonly CallPlan[], Address, readonly Address[]];
type Multicall = readonly [readonly CallPlan[], Address, readonly Address[]];

/** A call of the router to itself. */
export function readOwnCall(
  data: Hex,
): { readonly name: string; readonly args: readonly unknown[] } | undefined {
  const call = tryDecode(ROUTER, data);
  return call && { name: call.functionName, args: call.args ?? [] };
}

/** The recipient and amount of a token's `transfer`. Undefined: another call. */
export function readTransfer(
  data: Hex,
): { readonly recipient: Address; readonly amount: bigint } | undefined {
  const call = tryDecode(TOKEN, data);
  if (call?.functionName !== "transfer") return undefined;
  const [recipient, amount] = call.args as readonly [Address, bigint];
  return { recipient: lower(recipient), amount };
}

/** The functions of an ABI, each as an ABI of its own: a decoder hashes every signature that it is given. */
function bySelector(abi: Abi): ReadonlyMap<string, Abi> {
  return new Map(
    abi.flatMap((item) => (item.type === "function" ? [[toFunctionSelector(item), [item]] as const] : [])),
  );
}

function tryDecode(functions: ReadonlyMap<string, Abi>, data: Hex) {
  const abi = functions.get(data.slice(0, 10));
  if (abi === undefined) return undefined;
  try {
    return decodeFunctionData({ abi, data });
  } catch {
    return undefined;
  }
}

/**
 * The reference at the end of the input, if any.
 * @param digitsBefore hex digits of the input before the reference; undefined: any number
 */
function referenceOf(data: Hex, digitsBefore?: number): Hex | undefined {
  const digits = data.slice(2);
  const hasReference =
    digitsBefore === undefined ? digits.length >= WORD : digits.length === digitsBefore + WORD;
  return hasReference ? `0x${digits.slice(-WORD).toLowerCase()}` : undefined;
}

function plain({ to, data, value }: CallPlan): CallPlan {
  return { to: lower(to), data, value };
}

export function lower(address: Address): Address {
  return address.toLowerCase() as Address;
}

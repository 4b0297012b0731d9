import { approvalProxyAbi, depositoryAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { decodeFunctionData, erc20Abi, getAbiItem, toFunctionSelector } from "viem";
import type { TransactionFact } from "../port.ts";

/** The payments that a transaction's calldata states. Pure. */

export interface NamedPayment {
  /** Zero address = native. */
  readonly currency: Address;
  readonly recipient: Address;
  /** Base units. */
  readonly amount: bigint;
}

/** Payments that the sender of a transaction signed, each with recipient, currency and amount. */
export interface NamedPayments {
  /** The account whose Transfers pay tokens: the sender, or the fill contract that it called. */
  readonly payer: Address;
  /** Undefined: the function is unknown, so only the fill contract's own events show what it paid. */
  readonly payments: readonly NamedPayment[] | undefined;
  /**
   * Token payments for which the router checks, in the same transaction, that the recipient's balance
   * increased.
   */
  readonly guaranteed: readonly NamedPayment[];
  /** Whether the sender's own calls deposit for this order. Undefined: the function is unknown. */
  readonly isDeposit: boolean | undefined;
  /**
   * The transaction calls the order's fill contract with its sender's funds, so the events of that contract
   * count.
   */
  readonly isThroughFillContract: boolean;
}

type Transaction = Pick<TransactionFact, "from" | "to" | "input" | "value">;

const noPayments = (payer: Address): NamedPayments => ({
  payer,
  payments: [],
  guaranteed: [],
  isDeposit: false,
  isThroughFillContract: false,
});

/** Every function that deposits with an id. */
const DEPOSITS: ReadonlySet<string> = new Set(
  [...depositoryAbi, ...routerAbi]
    .filter((item) => item.type === "function")
    .filter(({ name }) => name.startsWith("deposit"))
    .map((item) => toFunctionSelector(item)),
);

/**
 * Whether a call deposits for an order. Only the calldata counts, not the target, so that a fill cannot
 * become a deposit after it was signed. An order's calls cannot name that order, whose id hashes its calls.
 */
export function depositsForOrder(data: Hex, orderId: Hex): boolean {
  return DEPOSITS.has(selectorOf(data)) && data.toLowerCase().includes(orderId.slice(2).toLowerCase());
}

/** Functions of the approval proxy that spend what another account signed for: anyone can submit them. */
const SIGNED_ROUTES: ReadonlySet<string> = new Set(
  [
    getAbiItem({ abi: approvalProxyAbi, name: "permit2Route" }),
    getAbiItem({ abi: approvalProxyAbi, name: "authorizationRoute" }),
  ].map((item) => toFunctionSelector(item)),
);
const TRANSFER = toFunctionSelector(getAbiItem({ abi: erc20Abi, name: "transfer" }));

/**
 * The payments by its sender that a transaction's calldata names.
 *
 * A direct call names its own `transfer`. A call of a trusted fill contract (the router, or its approval
 * proxy) names the transfers of the router itself; other transfers in its calls may be the recipient's own
 * trade, claim or withdrawal, which anyone can trigger.
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
  if (to === undefined) return noPayments(from);
  if (input === orderId)
    return { ...noPayments(from), payments: [{ currency: NATIVE_CURRENCY, recipient: to, amount: value }] };
  if (fillContract === undefined || (to !== fillContract && !trusted.includes(to)))
    return { ...noPayments(from), payments: transferIn(to, input) };
  if (SIGNED_ROUTES.has(selectorOf(input))) return noPayments(from);
  const calls = to === fillContract ? callsOfRouter(to, input, value) : callsOfProxy(input);
  if (calls === undefined && to !== fillContract) return noPayments(from);
  return {
    payer: fillContract,
    payments: calls?.flatMap((call) => paymentsOf(fillContract, call)),
    guaranteed: calls === undefined ? [] : guaranteedPayments(fillContract, calls),
    isDeposit: calls?.some(({ data }) => depositsForOrder(data, orderId)),
    isThroughFillContract: true,
  };
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly allowFailure: boolean;
}

/** The calls of a router function that accounts call directly; undefined for any other function. */
function callsOfRouter(router: Address, input: Hex, value: bigint): readonly Call[] | undefined {
  const call = tryDecode(() => decodeFunctionData({ abi: routerAbi, data: input }));
  if (call?.functionName === "multicall") return call.args[0];
  if (call?.functionName === "nativeTransfer" && call.args[1] === value)
    return [{ to: router, data: input, allowFailure: false }];
  return undefined;
}

function callsOfProxy(input: Hex): readonly Call[] | undefined {
  const call = tryDecode(() => decodeFunctionData({ abi: approvalProxyAbi, data: input }));
  return call?.functionName === "pullAndRoute" ? call.args[2] : undefined;
}

/** A call that is allowed to fail names no payment: it may have failed. */
function paymentsOf(router: Address, { to, data, allowFailure }: Call): readonly NamedPayment[] {
  const target = lower(to);
  if (allowFailure) return [];
  if (target !== router) return transferIn(target, data);
  const call = tryDecode(() => decodeFunctionData({ abi: routerAbi, data }));
  if (call?.functionName === "nativeTransfer")
    return [{ currency: NATIVE_CURRENCY, recipient: lower(call.args[0]), amount: call.args[1] }];
  if (call?.functionName === "payBalance")
    return [{ currency: lower(call.args[0]), recipient: lower(call.args[1]), amount: call.args[2] }];
  return [];
}

/**
 * Payments between a `noteBalance` and the `requireReceived` of the same recipient and token, up to the
 * required amount. Only calls to the router itself may follow. What recipients do when those calls pay them
 * counts as a later transaction and does not undo the payment.
 */
function guaranteedPayments(router: Address, calls: readonly Call[]): readonly NamedPayment[] {
  const end = calls.findLastIndex(({ to }) => lower(to) !== router) + 1;
  return calls.flatMap((call, index) => {
    const required = index < end ? undefined : ownCall(router, call);
    if (required?.functionName !== "requireReceived") return [];
    const [currency, recipient, minimum] = [
      lower(required.args[0]),
      lower(required.args[1]),
      required.args[2],
    ];
    const noted = calls.findIndex((earlier) => {
      const note = ownCall(router, earlier);
      return (
        note?.functionName === "noteBalance" &&
        lower(note.args[0]) === currency &&
        lower(note.args[1]) === recipient
      );
    });
    if (noted === -1) return [];
    const namedAmount = calls
      .slice(noted, index)
      .flatMap((earlier) => paymentsOf(router, earlier))
      .filter((payment) => payment.currency === currency && payment.recipient === recipient)
      .reduce((sum, payment) => sum + payment.amount, 0n);
    return [{ currency, recipient, amount: namedAmount < minimum ? namedAmount : minimum }];
  });
}

/** A call of the router to itself; undefined if it is allowed to fail. */
function ownCall(router: Address, { to, data, allowFailure }: Call) {
  if (allowFailure || lower(to) !== router) return undefined;
  return tryDecode(() => decodeFunctionData({ abi: routerAbi, data }));
}

/**
 * The payment of a `transfer`. Only the low 20 bytes of the recipient's word count, because Tron wallets put
 * the chain's prefix before them.
 */
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

/** Undefined when the calldata does not match this contract's ABI. */
function tryDecode<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

import type { Address, Hex, Hex32 } from "../ids/hex.ts";

/** A call that the router makes; if it reverts, everything reverts. */
export interface RouterCall {
  readonly to: Address;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
}

/** What the router does with the funds sent to it, and who gets the rest. */
export interface RouterJob {
  readonly calls: readonly RouterCall[];
  readonly refundTo: Address;
  /** Tokens whose remainder goes to `refundTo`, in addition to the native token and the pulled token. */
  readonly refundTokens: readonly Address[];
}

/**
 * `multicall(Call[] calls, address refundTo, address[] refundTokens)` of the router. Addresses are lower-case
 * hex of full length.
 */
export function multicallCalldata({ calls, refundTo, refundTokens }: RouterJob): Hex {
  const list = callsOf(calls);
  const head = uint(3 * WORD) + address(refundTo) + uint(3 * WORD + list.length / 2);
  return `0xada39fc6${head}${list}${addressesOf(refundTokens)}`;
}

/**
 * `pullAndRoute(address token, uint256 amount, Call[] calls, address refundTo, address[] refundTokens)` of
 * the approval proxy.
 */
export function pullAndRouteCalldata(
  token: Address,
  amount: bigint,
  { calls, refundTo, refundTokens }: RouterJob,
): Hex {
  const list = callsOf(calls);
  const head =
    address(token) + uint(amount) + uint(5 * WORD) + address(refundTo) + uint(5 * WORD + list.length / 2);
  return `0x13d31444${head}${list}${addressesOf(refundTokens)}`;
}

/** Calls that the router makes to itself in a multicall; each uses its whole balance. */
export const routerCalls = {
  /**
   * `depositBalance(address depository, address depositor, address currency, uint256 minimum, bytes32 id)`.
   */
  depositBalance: (
    depository: Address,
    depositor: Address,
    currency: Address,
    minimum: bigint,
    id: Hex32,
  ): Hex =>
    `0x16ae0434${address(depository)}${address(depositor)}${address(currency)}${uint(minimum)}${id.slice(2)}`,
  /** `payBalance(address currency, address to, uint256 minimum)`. */
  payBalance: (currency: Address, to: Address, minimum: bigint): Hex =>
    `0x9875e1ae${address(currency)}${address(to)}${uint(minimum)}`,
  /** `unwrapBalance(address wrapped, uint256 minimum)`. */
  unwrapBalance: (wrapped: Address, minimum: bigint): Hex => `0x78db34cc${address(wrapped)}${uint(minimum)}`,
  /** `wrapBalance(address wrapped)`. */
  wrapBalance: (wrapped: Address): Hex => `0x454a6807${address(wrapped)}`,
  /** `noteBalance(address currency, address account)`. */
  noteBalance: (currency: Address, account: Address): Hex =>
    `0x404ba023${address(currency)}${address(account)}`,
  /** `requireReceived(address currency, address account, uint256 amount)`. */
  requireReceived: (currency: Address, account: Address, amount: bigint): Hex =>
    `0x91e20bdc${address(currency)}${address(account)}${uint(amount)}`,
} as const;

const WORD = 32;
const TWELVE_ZERO_BYTES = "0".repeat(24);

/** Encodes an array of `(address to, bytes data, uint256 value, bool allowFailure)` for calldata. */
function callsOf(calls: readonly RouterCall[]): string {
  const tuples = calls.map(tupleOf);
  let offset = calls.length * WORD;
  let offsets = "";
  for (const tuple of tuples) {
    offsets += uint(offset);
    offset += tuple.length / 2;
  }
  return uint(calls.length) + offsets + tuples.join("");
}

function tupleOf({ to, data, value }: RouterCall): string {
  const bytes = data.length / 2 - 1;
  const padding = "0".repeat(((WORD - (bytes % WORD)) % WORD) * 2);
  return address(to) + uint(4 * WORD) + uint(value) + uint(0) + uint(bytes) + data.slice(2) + padding;
}

function addressesOf(addresses: readonly Address[]): string {
  return uint(addresses.length) + addresses.map(address).join("");
}

function address(value: Address): string {
  return TWELVE_ZERO_BYTES + value.slice(2);
}

function uint(value: bigint | number): string {
  return value.toString(16).padStart(64, "0");
}

import type { Address, Hex, Hex32 } from "../ids/hex.ts";

/**
 * Calldata of the few calls in a quote, written by hand: an ABI encoder costs more than the rest of a quote.
 * Addresses and ids must be lower-case hex of full length.
 */

/** `depositNative(address depositor, bytes32 id)` of the depository. */
export function depositNativeCalldata(depositor: Address, id: Hex32): Hex {
  return `0x49290c1c${address(depositor)}${id.slice(2)}`;
}

/** `depositErc20(address depositor, address token, uint256 amount, bytes32 id)` of the depository. */
export function depositErc20Calldata(depositor: Address, token: Address, amount: bigint, id: Hex32): Hex {
  return `0xe8017952${address(depositor)}${address(token)}${uint(amount)}${id.slice(2)}`;
}

/** `approve(address spender, uint256 amount)` of an ERC-20 token. */
export function approveCalldata(spender: Address, amount: bigint): Hex {
  return `0x095ea7b3${address(spender)}${uint(amount)}`;
}

/**
 * `transfer(address to, uint256 amount)` of an ERC-20 token, followed by the id of what the transfer pays:
 * tokens ignore trailing bytes.
 */
export function transferWithIdCalldata(to: Address, amount: bigint, id: Hex32): Hex {
  return `0xa9059cbb${address(to)}${uint(amount)}${id.slice(2)}`;
}

/** `nativeTransfer(address to, uint256 amount)` of the router, followed by the id. */
export function nativeTransferWithIdCalldata(to: Address, amount: bigint, id: Hex32): Hex {
  return `0xf2522bcd${address(to)}${uint(amount)}${id.slice(2)}`;
}

const TWELVE_ZERO_BYTES = "0".repeat(24);

function address(value: Address): string {
  return TWELVE_ZERO_BYTES + value.slice(2);
}

function uint(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}

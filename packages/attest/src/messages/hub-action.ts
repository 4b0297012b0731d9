import { ServiceError, unreachable } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import { decodeAbiParameters, encodeAbiParameters, parseAbiParameters } from "viem";

/** One change to the hub's ledger. Accounts are hub addresses, `tokenId` is a hub token. */
export type HubAction =
  | { readonly kind: "mint"; readonly to: Address; readonly tokenId: bigint; readonly amount: bigint }
  | { readonly kind: "burn"; readonly from: Address; readonly tokenId: bigint; readonly amount: bigint }
  | {
      readonly kind: "transfer";
      readonly from: Address;
      readonly to: Address;
      readonly tokenId: bigint;
      readonly amount: bigint;
    }
  | {
      readonly kind: "fastMint";
      readonly to: Address;
      readonly tokenId: bigint;
      readonly amount: bigint;
      readonly feeCalculator: Address;
      readonly feeCalculatorData: Hex;
      readonly rateLimiter: Address;
      readonly rateLimiterData: Hex;
    };

const fastMintParameters = parseAbiParameters(
  "uint8, address, uint256, uint256, address, bytes, address, bytes",
);

/**
 * Encodes an action: its number, then its fields (ABI).
 * @throws RangeError if an amount is not a uint256 or an account not an address
 */
export function encodeHubAction(action: HubAction): Hex {
  switch (action.kind) {
    case "mint":
      return `0x${MINT}${account(action.to)}${uint(action.tokenId)}${uint(action.amount)}`;
    case "burn":
      return `0x${BURN}${account(action.from)}${uint(action.tokenId)}${uint(action.amount)}`;
    case "transfer":
      return `0x${TRANSFER}${account(action.from)}${account(action.to)}${uint(action.tokenId)}${uint(action.amount)}`;
    case "fastMint":
      return encodeAbiParameters(fastMintParameters, [
        3,
        lower(action.to),
        action.tokenId,
        action.amount,
        lower(action.feeCalculator),
        lower(action.feeCalculatorData),
        lower(action.rateLimiter),
        lower(action.rateLimiterData),
      ]);
    default:
      return unreachable(action);
  }
}

/**
 * Decodes an action if it is exactly what `encodeHubAction` writes, ignoring letter case.
 * @throws ServiceError INVALID_REQUEST for an unknown number, missing or surplus bytes, non-zero padding, or
 * another layout
 */
export function decodeHubAction(encoded: Hex): HubAction {
  const hex = encoded.toLowerCase();
  const action = /^0x(?:[0-9a-f]{64}){4,}$/.test(hex) ? read(hex) : undefined;
  if (action === undefined || encodeHubAction(action) !== hex)
    throw new ServiceError("INVALID_REQUEST", `not an action of the hub: ${encoded.slice(0, 80)}`, {
      field: "actions",
    });
  return action;
}

function read(hex: string): HubAction | undefined {
  const word = (i: number) => hex.slice(2 + i * 64, 2 + (i + 1) * 64);
  const accountAt = (i: number): Address => `0x${word(i).slice(24)}`;
  // A missing word reads as zero: the encoded action is then longer than the input, and is refused.
  const uintAt = (i: number) => BigInt(`0x${word(i) || "0"}`);
  switch (word(0)) {
    case MINT:
      return { kind: "mint", to: accountAt(1), tokenId: uintAt(2), amount: uintAt(3) };
    case BURN:
      return { kind: "burn", from: accountAt(1), tokenId: uintAt(2), amount: uintAt(3) };
    case TRANSFER:
      return {
        kind: "transfer",
        from: accountAt(1),
        to: accountAt(2),
        tokenId: uintAt(3),
        amount: uintAt(4),
      };
    case FAST_MINT:
      return readFastMint(hex as Hex);
    default:
      return undefined;
  }
}

function readFastMint(hex: Hex): HubAction | undefined {
  try {
    const [, to, tokenId, amount, feeCalculator, feeCalculatorData, rateLimiter, rateLimiterData] =
      decodeAbiParameters(fastMintParameters, hex);
    return {
      kind: "fastMint",
      to: lower(to),
      tokenId,
      amount,
      feeCalculator: lower(feeCalculator),
      feeCalculatorData,
      rateLimiter: lower(rateLimiter),
      rateLimiterData,
    };
  } catch {
    // The library throws for malformed data, which is an expected result here.
    return undefined;
  }
}

const MINT = uint(0n);
const BURN = uint(1n);
const TRANSFER = uint(2n);
const FAST_MINT = uint(3n);

function uint(value: bigint): string {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError(`${value} is not a uint256`);
  return value.toString(16).padStart(64, "0");
}

function account(address: Address): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new RangeError(`not an address: ${address.slice(0, 80)}`);
  return lower(address).slice(2).padStart(64, "0");
}

function lower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}

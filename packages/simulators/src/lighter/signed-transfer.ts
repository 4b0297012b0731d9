import type { Hex32 } from "@causeway/domain";
import { readExact } from "./exact-text.ts";
import { LighterError } from "./refusal.ts";

/** A transfer as its sender signed it. */
export interface SignedTransfer {
  readonly fromAccountIndex: bigint;
  readonly apiKeyIndex: bigint;
  readonly toAccountIndex: bigint;
  readonly assetIndex: bigint;
  readonly fromRouteType: bigint;
  readonly toRouteType: bigint;
  readonly amount: bigint;
  readonly usdcFee: bigint;
  readonly memo: Hex32;
  /** Unix milliseconds. */
  readonly expiredAt: bigint;
  readonly nonce: bigint;
  /** The owner's own signature of the transfer's text; may be empty. */
  readonly l1Sig: string;
}

/** A Schnorr signature over Lighter's curve: two scalars of 40 bytes. */
const SIGNATURE_BYTES = 80;

/** @throws LighterError for fields that no signer would produce */
export function readSignedTransfer(text: string): SignedTransfer {
  const info = parseFields(text);
  const signature = info["Sig"];
  if (typeof signature !== "string" || Buffer.from(signature, "base64").length !== SIGNATURE_BYTES)
    throw new LighterError(21_120, "invalid signature");
  const l1Sig = info["L1Sig"] ?? "";
  if (typeof l1Sig !== "string") throw new LighterError(21_120, "invalid signature");
  return {
    fromAccountIndex: within(info, "FromAccountIndex", 1n, (1n << 48n) - 2n),
    apiKeyIndex: within(info, "ApiKeyIndex", 0n, 254n),
    toAccountIndex: within(info, "ToAccountIndex", 0n, (1n << 48n) - 2n),
    assetIndex: within(info, "AssetIndex", 1n, 62n),
    fromRouteType: within(info, "FromRouteType", 0n, 1n),
    toRouteType: within(info, "ToRouteType", 0n, 1n),
    amount: within(info, "Amount", 1n, (1n << 60n) - 1n),
    usdcFee: within(info, "USDCFee", 0n, (1n << 60n) - 1n),
    memo: memoOf(info["Memo"]),
    expiredAt: within(info, "ExpiredAt", 0n, (1n << 48n) - 1n),
    nonce: within(info, "Nonce", 0n, (1n << 63n) - 1n),
    l1Sig,
  };
}

function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = readExact(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Reported below, like any other text that is not a transaction.
  }
  throw new LighterError(21_501, "invalid tx info");
}

function within(info: Readonly<Record<string, unknown>>, name: string, min: bigint, max: bigint): bigint {
  const value = info[name];
  if (typeof value !== "bigint" || value < min || value > max)
    throw new LighterError(21_501, `invalid ${name}`);
  return value;
}

function memoOf(value: unknown): Hex32 {
  const bytes = Array.isArray(value) ? (value as unknown[]) : [];
  const isWhole = bytes.every((byte) => typeof byte === "bigint" && byte >= 0n && byte <= 255n);
  if (bytes.length !== 32 || !isWhole) throw new LighterError(21_501, "invalid Memo");
  return `0x${bytes.map((byte) => (byte as bigint).toString(16).padStart(2, "0")).join("")}`;
}

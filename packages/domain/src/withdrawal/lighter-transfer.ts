import { encodeAbiParameters } from "viem";
import { keccakText, toHex } from "../hashing/struct-writer.ts";
import type { Hex, Hex32 } from "../ids/hex.ts";
import { decodeCanonicalAbi } from "./canonical-abi.ts";

/** A payment out of a depository account on Lighter. All numbers are uint64. */
export interface LighterTransfer {
  readonly nonce: bigint;
  readonly fromAccountIndex: bigint;
  readonly fromRouteType: bigint;
  readonly apiKeyIndex: bigint;
  readonly toAccountIndex: bigint;
  readonly toRouteType: bigint;
  readonly assetIndex: bigint;
  readonly amount: bigint;
  readonly usdcFee: bigint;
  readonly lighterChainId: bigint;
  readonly memo: Hex32;
}

const envelope = [
  {
    type: "tuple",
    components: [
      { name: "actionType", type: "uint8" },
      { name: "parameters", type: "bytes" },
    ],
  },
] as const;

const transfer = [
  {
    type: "tuple",
    components: [
      { name: "nonce", type: "uint64" },
      { name: "fromAccountIndex", type: "uint64" },
      { name: "fromRouteType", type: "uint64" },
      { name: "apiKeyIndex", type: "uint64" },
      { name: "toAccountIndex", type: "uint64" },
      { name: "toRouteType", type: "uint64" },
      { name: "assetIndex", type: "uint64" },
      { name: "amount", type: "uint64" },
      { name: "usdcFee", type: "uint64" },
      { name: "lighterChainId", type: "uint64" },
      { name: "memo", type: "bytes32" },
    ],
  },
] as const;

/** The only action that a withdrawal can be. */
const TRANSFER = 0;

/** The payload of a transfer. @throws the library's error if a value does not fit its type */
export function encodeLighterTransfer(request: LighterTransfer): Hex {
  const parameters = encodeAbiParameters(transfer, [{ ...request, memo: memoOf(request) }]);
  return encodeAbiParameters(envelope, [{ actionType: TRANSFER, parameters }]);
}

/**
 * The transfer of a payload; undefined unless it is exactly what `encodeLighterTransfer` writes (in any case
 * of hex).
 */
export function decodeLighterTransfer(payload: Hex): LighterTransfer | undefined {
  const [outer] = decodeCanonicalAbi(envelope, payload) ?? [];
  if (outer?.actionType !== TRANSFER) return undefined;
  const [request] = decodeCanonicalAbi(transfer, outer.parameters) ?? [];
  return request;
}

/**
 * Id of a withdrawal on Lighter: keccak256 of the text that the account's owner signs for such a transfer.
 * @throws RangeError as {@link lighterTransferText}
 */
export function lighterTransferId(request: LighterTransfer): Hex32 {
  return toHex(keccakText(lighterTransferText(request)));
}

/**
 * The text that the owner of the sending account signs (EIP-191) for a transfer to another account.
 * @throws RangeError if a number is not a uint64 or the memo is not 32 bytes
 */
export function lighterTransferText(request: LighterTransfer): string {
  const lines = [
    "Transfer",
    "",
    `nonce: ${number(request.nonce)}`,
    `from: ${number(request.fromAccountIndex)} (route ${number(request.fromRouteType)})`,
    `api key: ${number(request.apiKeyIndex)}`,
    `to: ${number(request.toAccountIndex)} (route ${number(request.toRouteType)})`,
    `asset: ${number(request.assetIndex)}`,
    `amount: ${number(request.amount)}`,
    `fee: ${number(request.usdcFee)}`,
    `chainId: ${number(request.lighterChainId)}`,
    `memo: ${memoOf(request).slice(2)}`,
    "Only sign this message for a trusted client!",
  ];
  return lines.join("\n");
}

function number(value: bigint): string {
  if (BigInt.asUintN(64, value) !== value) throw new RangeError(`expected a uint64, got ${value}`);
  return `0x${value.toString(16).padStart(16, "0")}`;
}

function memoOf({ memo }: LighterTransfer): Hex32 {
  if (!/^0x[0-9a-fA-F]{64}$/.test(memo)) throw new RangeError("memo must be 32 bytes");
  return memo.toLowerCase() as Hex32;
}

import { encodeAbiParameters } from "viem";
import { keccakText, structWriter, toHex } from "../hashing/struct-writer.ts";
import type { Hex, Hex32 } from "../ids/hex.ts";
import { decodeCanonicalAbi } from "./canonical-abi.ts";

/**
 * A payment out of a depository on Hyperliquid, in Hyperliquid's own signing types. Amounts are decimal text.
 */
export type HyperliquidAction =
  | {
      readonly type: "UsdSend";
      /** Name of Hyperliquid's network. */
      readonly chain: string;
      readonly destination: string;
      readonly amount: string;
      /** Unix milliseconds, uint64; also the nonce. */
      readonly time: bigint;
    }
  | {
      readonly type: "SendAsset";
      readonly chain: string;
      readonly destination: string;
      readonly sourceDex: string;
      readonly destinationDex: string;
      readonly token: string;
      readonly amount: string;
      readonly fromSubAccount: string;
      /** uint64. */
      readonly nonce: bigint;
    };

/**
 * Names inside Hyperliquid's signing types. They are hashed, so an id is valid only for the network that uses
 * these names.
 */
export interface HyperliquidSigningNames {
  /** The part of a type's name before the colon. */
  readonly typePrefix: string;
  /** The field that names Hyperliquid's network. */
  readonly chainField: string;
}

/** The names that the real Hyperliquid verifies. */
export const hyperliquidSigningNames: HyperliquidSigningNames = {
  typePrefix: "HyperliquidTransaction",
  chainField: "hyperliquidChain",
};

/** The names in this service's public API. */
export const defaultSigningNames: HyperliquidSigningNames = {
  typePrefix: "ExchangeTransaction",
  chainField: "exchangeChain",
};

const envelope = [
  {
    type: "tuple",
    components: [
      { name: "txType", type: "uint8" },
      { name: "parameters", type: "bytes" },
    ],
  },
] as const;

const usdSend = [
  {
    type: "tuple",
    components: [
      { name: "chain", type: "string" },
      { name: "destination", type: "string" },
      { name: "amount", type: "string" },
      { name: "time", type: "uint64" },
    ],
  },
] as const;

const sendAsset = [
  {
    type: "tuple",
    components: [
      { name: "chain", type: "string" },
      { name: "destination", type: "string" },
      { name: "sourceDex", type: "string" },
      { name: "destinationDex", type: "string" },
      { name: "token", type: "string" },
      { name: "amount", type: "string" },
      { name: "fromSubAccount", type: "string" },
      { name: "nonce", type: "uint64" },
    ],
  },
] as const;

/** The payload of an action. @throws viem's error if `time` or `nonce` is not a uint64 */
export function encodeHyperliquidAction(action: HyperliquidAction): Hex {
  const wrap = (txType: number, parameters: Hex) => encodeAbiParameters(envelope, [{ txType, parameters }]);
  return action.type === "UsdSend"
    ? wrap(0, encodeAbiParameters(usdSend, [action]))
    : wrap(1, encodeAbiParameters(sendAsset, [action]));
}

/**
 * The action of a payload; undefined unless it is exactly what `encodeHyperliquidAction` writes (upper- or
 * lowercase hex).
 */
export function decodeHyperliquidAction(payload: Hex): HyperliquidAction | undefined {
  const [outer] = decodeCanonicalAbi(envelope, payload) ?? [];
  if (outer?.txType === 0) {
    const [action] = decodeCanonicalAbi(usdSend, outer.parameters) ?? [];
    return action && { type: "UsdSend", ...action };
  }
  if (outer?.txType === 1) {
    const [action] = decodeCanonicalAbi(sendAsset, outer.parameters) ?? [];
    return action && { type: "SendAsset", ...action };
  }
  return undefined;
}

const usdSendWriter = structWriter(5);
const sendAssetWriter = structWriter(9);

/**
 * Id of a withdrawal on Hyperliquid: the EIP-712 struct hash of its action. If `names` are
 * `hyperliquidSigningNames`, it is the hash that Hyperliquid itself verifies.
 * @throws RangeError if `time` or `nonce` is not a uint64
 */
export function hyperliquidActionId(action: HyperliquidAction, names: HyperliquidSigningNames): Hex32 {
  const type = (name: string, fields: string) =>
    keccakText(`${names.typePrefix}:${name}(string ${names.chainField},string destination,${fields})`);
  if (action.type === "UsdSend")
    return toHex(
      usdSendWriter
        .start(type("UsdSend", "string amount,uint64 time"))
        .word(keccakText(action.chain))
        .word(keccakText(action.destination))
        .word(keccakText(action.amount))
        .uint256(uint64(action.time))
        .hash(),
    );
  const fields =
    "string sourceDex,string destinationDex,string token,string amount,string fromSubAccount,uint64 nonce";
  return toHex(
    sendAssetWriter
      .start(type("SendAsset", fields))
      .word(keccakText(action.chain))
      .word(keccakText(action.destination))
      .word(keccakText(action.sourceDex))
      .word(keccakText(action.destinationDex))
      .word(keccakText(action.token))
      .word(keccakText(action.amount))
      .word(keccakText(action.fromSubAccount))
      .uint256(uint64(action.nonce))
      .hash(),
  );
}

function uint64(value: bigint): bigint {
  if (BigInt.asUintN(64, value) !== value) throw new RangeError(`expected a uint64, got ${value}`);
  return value;
}

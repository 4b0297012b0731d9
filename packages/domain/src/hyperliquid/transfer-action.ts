import type { TypedDataToSign } from "../quote/steps.ts";
import { parseAddress, type Address, type Hex } from "../ids/hex.ts";
import { dexNameOf, hyperliquidTokenText, type HyperliquidPlace } from "./currency.ts";
import { exactAmountText } from "./exact-amount.ts";
import type { HyperliquidNetwork, HyperliquidSigningProfile } from "./signing-profile.ts";

/** Transfers that a Hyperliquid account can sign, by action name. */
export type HyperliquidTransferType = "usdSend" | "sendAsset" | "spotSend";

/**
 * How each transfer is signed: its type name, and its fields in order. In the signed struct, the network
 * field precedes them.
 */
export const hyperliquidTransferFields = {
  usdSend: {
    typeName: "UsdSend",
    fields: [
      ["destination", "string"],
      ["amount", "string"],
      ["time", "uint64"],
    ],
    nonceField: "time",
  },
  sendAsset: {
    typeName: "SendAsset",
    fields: [
      ["destination", "string"],
      ["sourceDex", "string"],
      ["destinationDex", "string"],
      ["token", "string"],
      ["amount", "string"],
      ["fromSubAccount", "string"],
      ["nonce", "uint64"],
    ],
    nonceField: "nonce",
  },
  spotSend: {
    typeName: "SpotSend",
    fields: [
      ["destination", "string"],
      ["token", "string"],
      ["amount", "string"],
      ["time", "uint64"],
    ],
    nonceField: "time",
  },
} as const satisfies Record<
  HyperliquidTransferType,
  {
    readonly typeName: string;
    readonly fields: readonly (readonly [name: string, type: "string" | "uint64"])[];
    readonly nonceField: string;
  }
>;

/** The name of a transfer's signing type, e.g. `ExchangeTransaction:SendAsset`. */
export function hyperliquidPrimaryType(
  profile: HyperliquidSigningProfile,
  type: HyperliquidTransferType,
): string {
  return `${profile.typePrefix}:${hyperliquidTransferFields[type].typeName}`;
}

/** The EIP-712 types of a transfer, without the domain's. */
export function hyperliquidTransferTypes(
  profile: HyperliquidSigningProfile,
  type: HyperliquidTransferType,
): Record<string, { name: string; type: string }[]> {
  const fields = hyperliquidTransferFields[type].fields.map(([name, fieldType]) => ({
    name,
    type: fieldType,
  }));
  return {
    [hyperliquidPrimaryType(profile, type)]: [{ name: profile.chainField, type: "string" }, ...fields],
  };
}

/** An action as it is signed and posted: field names and plain JSON values. */
export interface HyperliquidTransferAction {
  readonly type: HyperliquidTransferType;
  /** Chain id of the signature's domain, hex without leading zeros. */
  readonly signatureChainId: Hex;
  readonly [field: string]: string | number;
}

const NO_CONTRACT: Address = `0x${"0".repeat(40)}`;

/**
 * The typed data of an action. Only the fields of its type are signed; `type` and `signatureChainId` are part
 * of the type name and the domain instead.
 */
export function hyperliquidTypedData(
  profile: HyperliquidSigningProfile,
  action: HyperliquidTransferAction,
): TypedDataToSign {
  return {
    signatureKind: "eip712",
    domain: {
      name: profile.domainName,
      version: "1",
      chainId: Number(action.signatureChainId),
      verifyingContract: NO_CONTRACT,
    },
    types: hyperliquidTransferTypes(profile, action.type),
    value: action,
    primaryType: hyperliquidPrimaryType(profile, action.type),
  };
}

/** A transfer between accounts or places. */
export interface SendAssetTerms {
  readonly network: HyperliquidNetwork;
  /** Chain id of the signature's domain: the wallet's current chain. The transfer does not depend on it. */
  readonly signatureChainId: number;
  readonly destination: Address;
  readonly from: HyperliquidPlace;
  readonly to: HyperliquidPlace;
  /** The token's name and id as Hyperliquid lists them. */
  readonly token: { readonly name: string; readonly tokenId: Hex };
  /** In base units with `decimals` decimals. */
  readonly amount: bigint;
  readonly decimals: number;
  /** Unix milliseconds; an account can use each value once. */
  readonly nonce: number;
}

/**
 * A `sendAsset` action from the account itself, never from a sub-account.
 * @throws RangeError for a zero amount, an invalid nonce or address
 */
export function sendAssetAction(
  profile: HyperliquidSigningProfile,
  terms: SendAssetTerms,
): HyperliquidTransferAction {
  const { network, signatureChainId, from, to, token, amount, decimals } = terms;
  if (amount <= 0n) throw new RangeError(`amount must be greater than 0, got ${amount}`);
  return {
    type: "sendAsset",
    signatureChainId: chainIdText(signatureChainId),
    [profile.chainField]: network,
    destination: account(terms.destination),
    sourceDex: dexNameOf(from),
    destinationDex: dexNameOf(to),
    token: hyperliquidTokenText(token.name, token.tokenId),
    amount: exactAmountText(amount, decimals),
    fromSubAccount: "",
    nonce: checkHyperliquidNonce(terms.nonce),
  };
}

/** A transfer of USDC from one account's margin on the first dex to another's. */
export type UsdSendTerms = Pick<
  SendAssetTerms,
  "network" | "signatureChainId" | "destination" | "amount" | "decimals" | "nonce"
>;

/** A `usdSend` action. @throws RangeError as {@link sendAssetAction} */
export function usdSendAction(
  profile: HyperliquidSigningProfile,
  terms: UsdSendTerms,
): HyperliquidTransferAction {
  if (terms.amount <= 0n) throw new RangeError(`amount must be greater than 0, got ${terms.amount}`);
  return {
    type: "usdSend",
    signatureChainId: chainIdText(terms.signatureChainId),
    [profile.chainField]: terms.network,
    destination: account(terms.destination),
    amount: exactAmountText(terms.amount, terms.decimals),
    time: checkHyperliquidNonce(terms.nonce),
  };
}

/** The nonce of an action: its field is `time` or `nonce`, depending on the type. */
export function hyperliquidNonceOf(action: HyperliquidTransferAction): number {
  return Number(action[hyperliquidTransferFields[action.type].nonceField]);
}

/** Returns `nonce` if it is a positive safe integer, as JSON requires. @throws RangeError otherwise */
export function checkHyperliquidNonce(nonce: number): number {
  if (!Number.isSafeInteger(nonce) || nonce <= 0)
    throw new RangeError(`nonce must be a positive safe integer, got ${nonce}`);
  return nonce;
}

function chainIdText(chainId: number): Hex {
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    throw new RangeError(`chain id must be a positive safe integer, got ${chainId}`);
  return `0x${chainId.toString(16)}`;
}

/** Hyperliquid hashes the text of an address, so both sides must use one format: lower case. */
function account(address: Address): Address {
  const parsed = parseAddress(address);
  if (parsed === undefined) throw new RangeError(`account must be a 20-byte address, got ${address}`);
  return parsed;
}

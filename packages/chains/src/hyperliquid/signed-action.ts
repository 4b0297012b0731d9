import {
  bytesOf,
  hyperliquidNonceOf,
  hyperliquidTypedData,
  hyperliquidActionId,
  keccakOf,
  parseAddress,
  toHex,
  type Address,
  type HyperliquidTransferAction,
  type HyperliquidSigningProfile,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import { parseSignature, recoverTypedDataAddress, serializeSignature } from "viem";
import { signTypedData } from "viem/accounts";

/** The body of a post to Hyperliquid: an action, its nonce again, and the signature. */
export interface SignedAction {
  readonly action: HyperliquidTransferAction;
  readonly nonce: number;
  readonly signature: { readonly r: Hex; readonly s: Hex; readonly v: number };
}

/** Signs an action with an account's own key. Deterministic. */
export async function signExchangeAction(
  profile: HyperliquidSigningProfile,
  action: HyperliquidTransferAction,
  privateKey: Hex32,
): Promise<SignedAction> {
  const { domain, types, primaryType, value } = hyperliquidTypedData(profile, action);
  const signed = await signTypedData({ privateKey, domain, types, primaryType, message: value });
  const { r, s, yParity } = parseSignature(signed);
  return { action, nonce: hyperliquidNonceOf(action), signature: { r, s, v: 27 + yParity } };
}

/** The account that signed an action. */
export async function signerOf(
  { action, signature: { r, s, v } }: SignedAction,
  profile: HyperliquidSigningProfile,
): Promise<Address | undefined> {
  const { domain, types, primaryType, value } = hyperliquidTypedData(profile, action);
  const signature = serializeSignature({ r, s, yParity: v - 27 });
  return parseAddress(
    await recoverTypedDataAddress({ domain, types, primaryType, message: value, signature }),
  );
}

/** Encodes the body of a post as hex bytes, the format of stored attempts. */
export function encodeSignedAction(signed: SignedAction): Hex {
  return toHex(new TextEncoder().encode(JSON.stringify(signed)));
}

/** Decodes the body of a post. @throws SyntaxError or TypeError for other bytes */
export function decodeSignedAction(raw: Hex): SignedAction {
  const signed = JSON.parse(new TextDecoder().decode(bytesOf(raw))) as SignedAction;
  if (typeof signed.nonce !== "number" || typeof signed.action !== "object")
    throw new TypeError("invariant violated: not a signed Hyperliquid action");
  return signed;
}

/** The id of signed bytes: their hash. */
export function idOfSigned(raw: Hex): Hex32 {
  return keccakOf(raw);
}

/**
 * The nonce of signed bytes, with which Hyperliquid reports them.
 *
 * @throws like {@link decodeSignedAction}
 */
export function nonceOfSigned(raw: Hex): bigint {
  return BigInt(decodeSignedAction(raw).nonce);
}

/** The hash that identifies a `sendAsset`, regardless of the chain that it was signed on. */
export function actionIdOf(action: HyperliquidTransferAction, profile: HyperliquidSigningProfile): Hex32 {
  const textOf = (name: string): string => String(action[name]);
  return hyperliquidActionId(
    {
      type: "SendAsset",
      chain: textOf(profile.chainField),
      destination: textOf("destination"),
      sourceDex: textOf("sourceDex"),
      destinationDex: textOf("destinationDex"),
      token: textOf("token"),
      amount: textOf("amount"),
      fromSubAccount: textOf("fromSubAccount"),
      nonce: BigInt(hyperliquidNonceOf(action)),
    },
    profile,
  );
}

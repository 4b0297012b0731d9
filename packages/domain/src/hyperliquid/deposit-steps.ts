import type { TypedDataToSign } from "../quote/steps.ts";
import type { Address, Hex32 } from "../ids/hex.ts";
import { HYPERLIQUID_WALLET_CHAIN, nonceMappingTypedData } from "./nonce-mapping.ts";
import type { HyperliquidSigningProfile } from "./signing-profile.ts";
import {
  checkHyperliquidNonce,
  hyperliquidPrimaryType,
  hyperliquidTransferTypes,
  sendAssetAction,
  type HyperliquidTransferAction,
  type SendAssetTerms,
} from "./transfer-action.ts";

/** A payment from Hyperliquid into the depository, for one order. */
export interface HyperliquidDepositTerms extends Omit<SendAssetTerms, "destination"> {
  readonly wallet: Address;
  /** The account that counts as depositor; usually the wallet. */
  readonly depositor: Address;
  readonly orderId: Hex32;
  readonly depository: Address;
}

/** The two steps of such a payment, built together so that their nonces cannot differ. */
export interface HyperliquidDepositSteps {
  readonly nonce: number;
  /** Maps the nonce to the order. */
  readonly authorize: {
    readonly sign: TypedDataToSign;
    /** Posted to `POST /authorize` together with the signature. */
    readonly post: {
      readonly type: "nonce-mapping";
      readonly walletChainId: number;
      readonly wallet: Address;
      readonly depositor: Address;
      readonly nonce: number;
      readonly id: Hex32;
      readonly signatureChainId: number;
    };
  };
  /** Moves the funds, with that nonce. */
  readonly deposit: {
    readonly action: {
      readonly type: HyperliquidTransferAction["type"];
      /** Without `signatureChainId`: the signer adds the chain id of their wallet. */
      readonly parameters: Readonly<Record<string, string | number>>;
    };
    readonly nonce: number;
    readonly eip712Types: Record<string, { name: string; type: string }[]>;
    readonly eip712PrimaryType: string;
  };
}

/** @throws RangeError as `sendAssetAction` and `nonceMappingTypedData` */
export function buildHyperliquidDepositSteps(
  profile: HyperliquidSigningProfile,
  walletChainId: number,
  terms: HyperliquidDepositTerms,
): HyperliquidDepositSteps {
  const { wallet, depositor, orderId: id, depository, signatureChainId } = terms;
  const nonce = checkHyperliquidNonce(terms.nonce);
  const action = sendAssetAction(profile, { ...terms, nonce, destination: depository });
  const { type, signatureChainId: _added, ...parameters } = action;
  return {
    nonce,
    authorize: {
      sign: nonceMappingTypedData({
        walletChain: HYPERLIQUID_WALLET_CHAIN,
        wallet,
        depositor,
        id,
        nonce: BigInt(nonce),
        signatureChainId,
      }),
      post: { type: "nonce-mapping", walletChainId, wallet, depositor, nonce, id, signatureChainId },
    },
    deposit: {
      action: { type, parameters },
      nonce,
      eip712Types: hyperliquidTransferTypes(profile, type),
      eip712PrimaryType: hyperliquidPrimaryType(profile, type),
    },
  };
}

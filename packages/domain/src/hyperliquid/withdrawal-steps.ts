import type { TypedDataToSign } from "../quote/steps.ts";
import type { Address, Hex32 } from "../ids/hex.ts";
import { EXCHANGE_WALLET_CHAIN, nonceMappingTypedData } from "./nonce-mapping.ts";
import type { ExchangeSigningProfile } from "./signing-profile.ts";
import {
  checkedExchangeNonce,
  exchangePrimaryType,
  exchangeTransferTypes,
  sendAssetAction,
  type ExchangeAction,
  type SendAssetTerms,
} from "./transfer-action.ts";

/** A payment from Hyperliquid into the depository, for one order. */
export interface ExchangeWithdrawalTerms extends Omit<SendAssetTerms, "destination"> {
  readonly wallet: Address;
  /** The account that counts as depositor; usually the wallet. */
  readonly depositor: Address;
  readonly orderId: Hex32;
  readonly depository: Address;
}

/** Both halves of a withdrawal, built together so that their nonces cannot differ. */
export interface ExchangeWithdrawal {
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
      readonly type: ExchangeAction["type"];
      /** Without `signatureChainId`: the signer adds the chain id of their wallet. */
      readonly parameters: Readonly<Record<string, string | number>>;
    };
    readonly nonce: number;
    readonly eip712Types: Record<string, { name: string; type: string }[]>;
    readonly eip712PrimaryType: string;
  };
}

/** @throws RangeError as `sendAssetAction` and `nonceMappingTypedData` */
export function buildExchangeWithdrawal(
  profile: ExchangeSigningProfile,
  walletChainId: number,
  terms: ExchangeWithdrawalTerms,
): ExchangeWithdrawal {
  const { wallet, depositor, orderId: id, depository, signatureChainId } = terms;
  const nonce = checkedExchangeNonce(terms.nonce);
  const action = sendAssetAction(profile, { ...terms, nonce, destination: depository });
  const { type, signatureChainId: _added, ...parameters } = action;
  return {
    nonce,
    authorize: {
      sign: nonceMappingTypedData({
        walletChain: EXCHANGE_WALLET_CHAIN,
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
      eip712Types: exchangeTransferTypes(profile, type),
      eip712PrimaryType: exchangePrimaryType(profile, type),
    },
  };
}

import { ServiceError, sha256Text, toHex } from "@causeway/domain";
import type { AttestationHub, Hex32 } from "@causeway/domain";
import { messageDigest } from "./message-digest.ts";

/**
 * What an owner authorizes by a signature. All values are signed as the texts of the request.
 */
export interface OwnerAuthorization {
  readonly operation: "withdrawal" | "transfer";
  /** Name of the chain; `ownerChainId` and `settlementChainId` are names too. */
  readonly chainId: string;
  readonly currency: string;
  /** Decimal digits. */
  readonly amount: string;
  readonly ownerChainId: string;
  readonly owner: string;
  readonly recipient: string;
  readonly nonce: string;
  /**
   * The next four fields bind the authorization to one environment and depository: without them, the
   * signature would be valid in every environment.
   */
  readonly settlementChainId?: string;
  /** The hub's own chain id, decimal: hubs of two environments may share a name and contract addresses. */
  readonly settlementNetwork?: string;
  readonly depository?: string;
  readonly oracleContract?: string;
}

/** A request for a withdrawal, in the texts that its owner signs. */
export interface WithdrawalRequestTexts {
  readonly settlementChainId: string;
  readonly expectedAmount: string;
  readonly chainId: string;
  readonly currency: string;
  readonly withdrawer: string;
  readonly withdrawerChainId: string;
  readonly recipient: string;
  readonly withdrawalNonce: string;
}

/** The authorization of one withdrawal from one hub and depository. */
export function withdrawalAuthorization(
  hub: Pick<AttestationHub, "chainId" | "oracleAddress">,
  depository: string,
  request: WithdrawalRequestTexts,
): OwnerAuthorization {
  return {
    operation: "withdrawal",
    chainId: request.chainId,
    currency: request.currency,
    amount: request.expectedAmount,
    ownerChainId: request.withdrawerChainId,
    owner: request.withdrawer,
    recipient: request.recipient,
    nonce: request.withdrawalNonce,
    settlementChainId: request.settlementChainId,
    settlementNetwork: String(hub.chainId),
    depository,
    oracleContract: hub.oracleAddress,
  };
}

const AMOUNT = /^(?:0|[1-9]\d{0,77})$/;
const NONCE = /^0x[0-9a-f]{64}$/;

/**
 * The JSON that is hashed: the present fields in alphabetical order, without spaces.
 * @throws ServiceError INVALID_REQUEST for an amount or nonce that is not canonical (`"01"`, `0xAB…`): the
 * same authorization would have two digests
 */
export function ownerAuthorizationJson(authorization: OwnerAuthorization): string {
  if (!AMOUNT.test(authorization.amount)) throw invalid("amount", "a decimal number without leading zeros");
  if (!NONCE.test(authorization.nonce)) throw invalid("nonce", "32 bytes of lowercase hex");
  // List the fields, so that an unknown field of the caller's object is never signed.
  return JSON.stringify({
    amount: authorization.amount,
    chainId: authorization.chainId,
    currency: authorization.currency,
    depository: authorization.depository,
    nonce: authorization.nonce,
    operation: authorization.operation,
    oracleContract: authorization.oracleContract,
    owner: authorization.owner,
    ownerChainId: authorization.ownerChainId,
    recipient: authorization.recipient,
    settlementChainId: authorization.settlementChainId,
    settlementNetwork: authorization.settlementNetwork,
  });
}

/**
 * sha256 of the authorization's JSON. Owners of other families sign its hex digits.
 * @throws as `ownerAuthorizationJson`
 */
export function ownerAuthorizationHash(authorization: OwnerAuthorization): Hex32 {
  return toHex(sha256Text(ownerAuthorizationJson(authorization)));
}

/**
 * What an EVM owner's wallet signs: EIP-191 over the 32 raw bytes of the hash.
 * @throws as `ownerAuthorizationJson`
 */
export function ownerAuthorizationDigest(authorization: OwnerAuthorization): Hex32 {
  return messageDigest(ownerAuthorizationHash(authorization));
}

function invalid(field: string, expected: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `${field} must be ${expected}`, { field });
}

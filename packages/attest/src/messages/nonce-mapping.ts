import { sha256Text, toHex } from "@causeway/domain";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { hashTypedData } from "viem";
import { hubAlias, type HubChain } from "./hub-addressing.ts";
import type { SetEntry } from "./set-entry.ts";

/** What a wallet says of one of its nonces: a transfer with it is for `id`, and `depositor` counts as who made it. */
export interface NonceMapping {
  /** The literal that the wallet signs for its chain; the chain's name in attestations may differ. */
  readonly chainId: string;
  readonly wallet: Address;
  readonly depositor: Address;
  readonly id: Hex32;
  readonly nonce: bigint;
}

const ZERO: Address = `0x${"00".repeat(20)}`;

/** EIP-712 types of what a wallet signs, as plain data. */
export const nonceMappingTypes = {
  NonceMapping: [
    { name: "chainId", type: "string" },
    { name: "wallet", type: "address" },
    { name: "depositor", type: "address" },
    { name: "id", type: "bytes32" },
    { name: "nonce", type: "uint256" },
  ],
} as const;

/** @param signatureChainId numeric id of the chain that the wallet was on when it signed; it says nothing about where money goes */
export function nonceMappingDomain(signatureChainId: number) {
  return { name: "ServiceNonceMapping", version: "2", chainId: signatureChainId, verifyingContract: ZERO };
}

/** EIP-712 digest of what a wallet signs. @throws the library's error when a value does not fit its type. */
export function nonceMappingDigest(signatureChainId: number, mapping: NonceMapping): Hex32 {
  return hashTypedData({
    domain: nonceMappingDomain(signatureChainId),
    types: nonceMappingTypes,
    primaryType: "NonceMapping",
    message: {
      ...mapping,
      wallet: mapping.wallet.toLowerCase() as Address,
      depositor: mapping.depositor.toLowerCase() as Address,
    },
  });
}

/** Under which id an account of the hub keeps what a nonce is for. */
export function nonceMappingId(nonce: bigint): Hex32 {
  return toHex(sha256Text(`NONCE_MAPPING:${nonce}`));
}

/**
 * The entry on the hub that says the same. All of it follows from the mapping, so that every oracle signs the same bytes.
 * @param chain of the wallet. @throws ServiceError INVALID_REQUEST when `wallet` is not of the chain's family.
 */
export function nonceMappingEntry(
  chain: HubChain,
  { wallet, depositor, id, nonce }: Omit<NonceMapping, "chainId">,
): SetEntry {
  const user = hubAlias(chain, wallet);
  return {
    user,
    id: nonceMappingId(nonce),
    data: `${id.toLowerCase() as Hex}${depositor.slice(2).toLowerCase()}`,
    nonce: toHex(sha256Text(`${user}:${nonce}`)),
  };
}

/** What an entry's data says; undefined when it is neither an id nor an id and a depositor. */
export function readNonceMappingData(
  data: Hex,
): { readonly id: Hex32; readonly depositor: Address | undefined } | undefined {
  const digits = data.slice(2).toLowerCase();
  if (digits.length !== 64 && digits.length !== 104) return undefined;
  return {
    id: `0x${digits.slice(0, 64)}`,
    depositor: digits.length === 64 ? undefined : `0x${digits.slice(64)}`,
  };
}

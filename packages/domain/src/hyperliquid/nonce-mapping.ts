import type { TypedDataToSign } from "../quote/steps.ts";
import { parseAddress, parseHex32, type Address, type Hex32 } from "../ids/hex.ts";

/**
 * A wallet's signed statement that its transfer with this nonce pays this order. Hyperliquid transfers carry
 * no order id, only a nonce.
 */
export interface NonceMapping {
  /** The signed name of the wallet's chain: `exchange` for Hyperliquid. */
  readonly walletChain: string;
  readonly wallet: Address;
  /** The account that counts as depositor. */
  readonly depositor: Address;
  /** Id of the order. */
  readonly id: Hex32;
  readonly nonce: bigint;
  /** Chain id of the signature's domain: the wallet's current chain. It affects nothing else. */
  readonly signatureChainId: number;
}

/** The signed name of Hyperliquid in the public contract. */
export const HYPERLIQUID_WALLET_CHAIN = "exchange";

/** Seconds after a transfer's block during which its nonce can still be mapped to an order. */
export const NONCE_MAPPING_GRACE_SECONDS = 3_600;

const types = {
  NonceMapping: [
    { name: "chainId", type: "string" },
    { name: "wallet", type: "address" },
    { name: "depositor", type: "address" },
    { name: "id", type: "bytes32" },
    { name: "nonce", type: "uint256" },
  ],
};

/**
 * The typed data that `wallet` signs. Plain JSON values: addresses and ids in lower case, the nonce as a
 * number if it is a safe integer, else as decimal text.
 * @throws RangeError for an invalid address, id or uint256
 */
export function nonceMappingTypedData(mapping: NonceMapping): TypedDataToSign {
  const { walletChain, nonce, signatureChainId } = mapping;
  const wallet = parseAddress(mapping.wallet);
  const depositor = parseAddress(mapping.depositor);
  const id = parseHex32(mapping.id);
  if (wallet === undefined || depositor === undefined)
    throw new RangeError("wallet and depositor must be 20-byte addresses");
  if (id === undefined) throw new RangeError("id must be 32 bytes");
  if (BigInt.asUintN(256, nonce) !== nonce) throw new RangeError(`nonce must be a uint256, got ${nonce}`);
  if (!Number.isSafeInteger(signatureChainId) || signatureChainId < 1)
    throw new RangeError(`signatureChainId must be a chain id, got ${signatureChainId}`);
  return {
    signatureKind: "eip712",
    domain: {
      name: "ServiceNonceMapping",
      version: "2",
      chainId: signatureChainId,
      verifyingContract: `0x${"0".repeat(40)}`,
    },
    types: { NonceMapping: types.NonceMapping.map((field) => ({ ...field })) },
    value: {
      chainId: walletChain,
      wallet,
      depositor,
      id,
      nonce: nonce <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nonce) : nonce.toString(),
    },
    primaryType: "NonceMapping",
  };
}

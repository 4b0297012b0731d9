import { keccakOf, type Address, type Hex, type Hex32, type Order } from "@causeway/domain";
import { concatHex, getTypesForEIP712Domain, hashDomain, hashStruct } from "viem";

/** The fields of an EIP-1559 or EIP-7702 transaction; prices in wei per gas. */
export interface TransactionFields {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Signed authorizations (EIP-7702). */
  readonly authorizationList?: readonly {
    readonly chainId: number;
    readonly address: Address;
    readonly nonce: number;
    readonly yParity: number;
    readonly r: Hex;
    readonly s: Hex;
  }[];
}

/** EIP-712 typed data, without the type of its domain. */
export interface TypedData {
  readonly domain: object;
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

/**
 * The content whose hash is a digest. `message`: 32 bytes as a personal message (EIP-191); `order` is set if
 * the bytes are its id. `unsigned` is the serialized transaction without its signature.
 */
export type Preimage =
  | { readonly kind: "transaction"; readonly transaction: TransactionFields; readonly unsigned: Hex }
  | { readonly kind: "message"; readonly bytes: Hex32; readonly order?: Order | undefined }
  | { readonly kind: "typedData"; readonly typedData: TypedData };

const MESSAGE_PREFIX: Hex = `0x${Buffer.from("\x19Ethereum Signed Message:\n32").toString("hex")}`;

/**
 * The bytes of the preimage, whose keccak256 is `digest`.
 * @throws RangeError if their hash differs from `digest`: the signature would be for another message
 */
export function preimageBytes(preimage: Preimage, digest: Hex32): Hex {
  const bytes = bytesOf(preimage);
  if (keccakOf(bytes) !== digest)
    throw new RangeError(`invariant violated: digest is not the hash of its ${preimage.kind}`);
  return bytes;
}

function bytesOf(preimage: Preimage): Hex {
  switch (preimage.kind) {
    case "transaction":
      return preimage.unsigned;
    case "message":
      return concatHex([MESSAGE_PREFIX, preimage.bytes]);
    case "typedData": {
      const { domain, types, primaryType, message } = withDomainType(preimage.typedData);
      return concatHex([
        "0x1901",
        hashDomain({ domain, types }),
        hashStruct({ data: message, primaryType, types }),
      ]);
    }
    default:
      return preimage satisfies never;
  }
}

/** The typed data including the type of its domain, as JSON-RPC methods require. */
export function withDomainType(typedData: TypedData): TypedData {
  const { domain, types } = typedData;
  return { ...typedData, types: { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types } };
}

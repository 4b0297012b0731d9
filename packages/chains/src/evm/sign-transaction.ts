import {
  serializeTransaction,
  type TransactionSerializableEIP1559,
  type TransactionSerializableEIP7702,
} from "viem";
import { keccakOf, type Address, type Hex, type Hex32, type TxHash } from "@causeway/domain";
import type { Authorization } from "@causeway/families/evm";

/**
 * An EIP-1559 (type 2) transaction, or with authorizations an EIP-7702 (type 4) one; prices in wei per gas.
 */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Must not be empty. */
  readonly authorizationList?: readonly Authorization[];
}

export interface DigestSignature {
  readonly r: Hex32;
  readonly s: Hex32;
  readonly yParity: 0 | 1;
}

/** The preimage of the digest, for signers that check what they sign. */
export interface TransactionPreimage {
  readonly kind: "transaction";
  readonly transaction: UnsignedTransaction;
  /** Serialized without a signature. */
  readonly unsigned: Hex;
}

export interface SignedTransaction {
  /** Bytes for `eth_sendRawTransaction`. */
  readonly raw: Hex;
  readonly hash: TxHash;
}

/** Half of the secp256k1 order: nodes refuse signatures above it (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Signs a transaction (EIP-1559, EIP-7702) with any signer.
 *
 * @throws RangeError if a field is out of range or the signature has a high s
 */
export async function signTransaction(
  transaction: UnsignedTransaction,
  signDigest: (digest: Hex32, preimage: TransactionPreimage) => Promise<DigestSignature>,
): Promise<SignedTransaction> {
  const unsigned = serializeTransaction(toSerializable(transaction));
  const { r, s, yParity } = await signDigest(keccakOf(unsigned), {
    kind: "transaction",
    transaction,
    unsigned,
  });
  if (BigInt(s) > HALF_ORDER)
    throw new RangeError("invariant violated: s of the signature is in the upper half of the curve order");
  const raw = serializeTransaction(toSerializable(transaction), { r, s, yParity });
  return { raw, hash: keccakOf(raw) };
}

type Serializable = TransactionSerializableEIP1559 | TransactionSerializableEIP7702;

function toSerializable(transaction: UnsignedTransaction): Serializable {
  const { authorizationList, ...plain } = transaction;
  const { chainId, nonce, gas, value, maxFeePerGas, maxPriorityFeePerGas } = plain;
  if (!Number.isSafeInteger(chainId) || chainId <= 0)
    throw new RangeError("invariant violated: chainId is not a positive integer");
  if (!isNatural(nonce)) throw new RangeError("invariant violated: nonce is not a non-negative integer");
  if (gas <= 0n || value < 0n || maxPriorityFeePerGas < 0n)
    throw new RangeError("invariant violated: negative gas, value or fee");
  if (maxPriorityFeePerGas > maxFeePerGas)
    throw new RangeError("invariant violated: priority fee exceeds the max fee");
  if (authorizationList === undefined) return { ...plain, type: "eip1559", accessList: [] };
  if (authorizationList.length === 0) throw new RangeError("invariant violated: empty authorization list");
  return {
    ...plain,
    type: "eip7702",
    accessList: [],
    authorizationList: authorizationList.map((authorization) => {
      const { address, yParity, r, s } = authorization;
      if (!isNatural(authorization.chainId) || !isNatural(authorization.nonce))
        throw new RangeError(
          "invariant violated: chainId or nonce of an authorization is not a non-negative integer",
        );
      return { chainId: authorization.chainId, address, nonce: authorization.nonce, yParity, r, s };
    }),
  };
}

function isNatural(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

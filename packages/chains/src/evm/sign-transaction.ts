import { keccak256, serializeTransaction, type TransactionSerializableEIP1559 } from "viem";
import type { Address, Hex, Hex32, TxHash } from "@causeway/domain";

/** An EIP-1559 (type 2) transaction; prices in wei per gas. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface DigestSignature {
  readonly r: Hex32;
  readonly s: Hex32;
  readonly yParity: 0 | 1;
}

export interface SignedTransaction {
  /** Bytes for `eth_sendRawTransaction`. */
  readonly raw: Hex;
  readonly hash: TxHash;
}

/** Half of the secp256k1 order: nodes refuse signatures above it (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** keccak256 of the unsigned transaction: what the sender signs (EIP-1559). @throws RangeError when a field is out of range */
export function transactionDigest(transaction: UnsignedTransaction): Hex32 {
  return keccak256(serializeTransaction(serializable(transaction)));
}

/**
 * Signs a transaction with whatever holds the key.
 *
 * @throws RangeError when a field is out of range or the signature has a high s
 */
export async function signTransaction(
  transaction: UnsignedTransaction,
  signDigest: (digest: Hex32) => Promise<DigestSignature>,
): Promise<SignedTransaction> {
  const { r, s, yParity } = await signDigest(transactionDigest(transaction));
  if (BigInt(s) > HALF_ORDER)
    throw new RangeError("the signature's s is in the upper half of the curve order");
  const raw = serializeTransaction(serializable(transaction), { r, s, yParity });
  return { raw, hash: keccak256(raw) };
}

function serializable(transaction: UnsignedTransaction): TransactionSerializableEIP1559 {
  const { chainId, nonce, gas, value, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (!Number.isSafeInteger(chainId) || chainId <= 0) throw new RangeError("chainId is no positive integer");
  if (!Number.isSafeInteger(nonce) || nonce < 0) throw new RangeError("nonce is no natural number");
  if (gas <= 0n || value < 0n || maxPriorityFeePerGas < 0n)
    throw new RangeError("gas, value or fee is negative");
  if (maxPriorityFeePerGas > maxFeePerGas) throw new RangeError("the priority fee exceeds the max fee");
  return { ...transaction, type: "eip1559", accessList: [] };
}

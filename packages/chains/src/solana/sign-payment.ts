import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getPublicKeyFromAddress,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction,
  verifySignature,
  type Instruction,
} from "@solana/kit";
import type { webcrypto } from "node:crypto";
import { bytesOf, toHex, type Hex, type TxHash } from "@causeway/domain";
import type { PlainInstruction } from "@causeway/families/solana";
import type { Lifetime } from "./answers.ts";

/** The account that signs and pays. */
export interface Payer {
  /** base58. */
  readonly address: string;
  readonly pair: webcrypto.CryptoKeyPair;
}

/**
 * Signed bytes with their limits, which show later whether they may still be included: 8 bytes of the last
 * height, 8 of the first slot, both big-endian, then the transaction in wire format.
 */
export interface SignedPayment {
  readonly raw: Hex;
  /** The signature's 64 bytes. */
  readonly txId: TxHash;
}

export async function signPayment(
  payer: Payer,
  instructions: readonly PlainInstruction[],
  lifetime: Lifetime,
): Promise<SignedPayment> {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayer(address(payer.address), draft),
    (draft) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(lifetime.blockhash), lastValidBlockHeight: lifetime.lastHeight },
        draft,
      ),
    (draft) => appendTransactionMessageInstructions(instructions.map(toKit), draft),
  );
  const signed = await signTransaction([payer.pair], compileTransaction(message));
  const [signature] = Object.values(signed.signatures);
  if (signature === undefined || signature === null)
    throw new Error("invariant violated: unsigned transaction");
  const transaction = getTransactionEncoder().encode(signed);
  const raw = new Uint8Array(16 + transaction.length);
  const view = new DataView(raw.buffer);
  view.setBigUint64(0, lifetime.lastHeight);
  view.setBigUint64(8, lifetime.slot);
  raw.set(transaction, 16);
  return { raw: toHex(raw), txId: toHex(Uint8Array.from(signature)) };
}

/** Decodes {@link SignedPayment.raw}. @throws RangeError if the bytes are malformed */
export function readPayment(raw: Hex): {
  readonly transaction: Uint8Array;
  readonly lastHeight: bigint;
  readonly slot: bigint;
} {
  const bytes = bytesOf(raw);
  if (bytes.length < 16 + 65) throw new RangeError("invariant violated: bytes are not a payment");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return {
    transaction: bytes.subarray(16),
    lastHeight: view.getBigUint64(0),
    slot: view.getBigUint64(8),
  };
}

/** The blockhash of a signed payment, base58. It is valid in blocks up to its last height. */
export function blockhashOf(raw: Hex): string {
  const { messageBytes } = getTransactionDecoder().decode(readPayment(raw).transaction);
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if (message.version === 1) throw new RangeError("invariant violated: bytes are not a payment");
  return message.lifetimeToken;
}

/** The amounts that a signed payment debits: lamports, and tokens by source account. Excludes the fee. */
export function debitsOf(raw: Hex): {
  readonly lamports: bigint;
  readonly tokens: ReadonlyMap<string, bigint>;
} {
  const { messageBytes } = getTransactionDecoder().decode(readPayment(raw).transaction);
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if (message.version === 1) throw new RangeError("invariant violated: bytes are not a payment");
  let lamports = 0n;
  const tokens = new Map<string, bigint>();
  for (const { data: bytes, accountIndices = [] } of message.instructions) {
    const data = Uint8Array.from(bytes ?? []);
    const view = new DataView(data.buffer);
    if (data.length === 12 && view.getUint32(0, true) === 2) lamports += view.getBigUint64(4, true);
    if (data.length === 10 && data[0] === 12) {
      const from = message.staticAccounts[accountIndices[0] ?? -1] ?? "";
      tokens.set(from, (tokens.get(from) ?? 0n) + view.getBigUint64(1, true));
    }
  }
  return { lamports, tokens };
}

/** An instruction of signed bytes: its program, its accounts in order, and its data in hex. */
export type SignedInstruction = readonly [programId: string, accounts: readonly string[], data: Hex];

/**
 * The instructions of bytes that this account alone signed. Undefined: they are malformed or signed
 * differently, `txId` is not their signature, or they use lookup tables.
 */
export async function signedInstructions(
  { raw, txId }: SignedPayment,
  payer: string,
): Promise<readonly SignedInstruction[] | undefined> {
  const { messageBytes, signatures } = getTransactionDecoder().decode(readPayment(raw).transaction);
  const [[signer, signature] = [], ...otherSigners] = Object.entries(signatures);
  if (signer !== payer || otherSigners.length > 0 || !signature || toHex(Uint8Array.from(signature)) !== txId)
    return undefined;
  const key = await getPublicKeyFromAddress(address(payer));
  if (!(await verifySignature(key, signature, messageBytes))) return undefined;
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if (message.version === 1) return undefined;
  if (message.version === 0 && (message.addressTableLookups ?? []).length > 0) return undefined;
  const accountAt = (index: number): string => message.staticAccounts[index] ?? "";
  return message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => [
    accountAt(programAddressIndex),
    accountIndices.map(accountAt),
    toHex(Uint8Array.from(data ?? [])),
  ]);
}

/** The instruction as the library's types write it. */
export function toKit({ programId, keys, data }: PlainInstruction): Instruction {
  return {
    programAddress: address(programId),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
      address: address(pubkey),
      role: roleOf(isSigner, isWritable),
    })),
    data: bytesOf(data),
  };
}

function roleOf(isSigner: boolean, isWritable: boolean): AccountRole {
  if (isSigner) return isWritable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER;
  return isWritable ? AccountRole.WRITABLE : AccountRole.READONLY;
}

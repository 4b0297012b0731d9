import {
  AccountRole,
  appendTransactionMessageInstructions,
  blockhash,
  address,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairFromPrivateKeyBytes,
  createTransactionMessage,
  getAddressFromPublicKey,
  getBase64EncodedWireTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction,
  type Address,
  type Instruction,
} from "@solana/kit";
import { randomBytes, type webcrypto } from "node:crypto";

/** A key pair of an account on a local cluster. */
export interface SolanaKey {
  readonly address: Address;
  /** 32 bytes. */
  readonly seed: Uint8Array;
  readonly pair: webcrypto.CryptoKeyPair;
}

/** @param seed 32 bytes; default: random */
export async function solanaKey(seed: Uint8Array = randomBytes(32)): Promise<SolanaKey> {
  const pair = await createKeyPairFromPrivateKeyBytes(seed);
  return { address: await getAddressFromPublicKey(pair.publicKey), seed, pair };
}

/** An instruction in the format of JSON interfaces. */
export interface PlainInstruction {
  readonly programId: string;
  readonly keys: readonly {
    readonly pubkey: string;
    readonly isSigner: boolean;
    readonly isWritable: boolean;
  }[];
  /** Hex, with or without 0x, or bytes. */
  readonly data: string | Uint8Array;
}

export function toKitInstruction({ programId, keys, data }: PlainInstruction): Instruction {
  const role = (isSigner: boolean, isWritable: boolean): AccountRole =>
    isSigner
      ? isWritable
        ? AccountRole.WRITABLE_SIGNER
        : AccountRole.READONLY_SIGNER
      : isWritable
        ? AccountRole.WRITABLE
        : AccountRole.READONLY;
  return {
    programAddress: address(programId),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
      address: address(pubkey),
      role: role(isSigner, isWritable),
    })),
    data: typeof data === "string" ? Buffer.from(data.replace(/^0x/, ""), "hex") : data,
  };
}

export interface SigningOptions {
  /** The first pays the fee. */
  readonly signers: readonly [SolanaKey, ...SolanaKey[]];
  readonly blockhash: string;
  readonly lastValidBlockHeight?: bigint;
  /** Version 0 with these tables instead of a legacy transaction. */
  readonly lookupTables?: Readonly<Record<string, readonly string[]>>;
}

/** A signed transaction in base64, as nodes accept it. */
export async function signedTransaction(
  instructions: readonly PlainInstruction[],
  { signers, blockhash: hash, lastValidBlockHeight = 0n, lookupTables }: SigningOptions,
): Promise<string> {
  const lifetime = { blockhash: blockhash(hash), lastValidBlockHeight };
  const pairs = signers.map(({ pair }) => pair);
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayer(signers[0].address, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions(instructions.map(toKitInstruction), draft),
  );
  const tables = Object.fromEntries(
    Object.entries(lookupTables ?? {}).map(([table, keys]) => [table, keys.map((key) => address(key))]),
  );
  const compact =
    lookupTables === undefined
      ? message
      : compressTransactionMessageUsingAddressLookupTables(message, tables);
  return getBase64EncodedWireTransaction(await signTransaction(pairs, compileTransaction(compact)));
}

/** The result of one call to a node. @throws Error with the node's error */
export async function askNode<T>(url: string, method: string, params: readonly unknown[] = []): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as {
    readonly result?: T;
    readonly error?: { readonly message: string };
  };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result as T;
}

/** Signs and sends a transaction; returns its signature once it is in a block. */
export async function sendInstructions(
  url: string,
  signers: readonly [SolanaKey, ...SolanaKey[]],
  instructions: readonly PlainInstruction[],
  options: {
    readonly lookupTables?: Readonly<Record<string, readonly string[]>>;
    /** Without preflight, so that failing transactions are included too. */
    readonly skipPreflight?: boolean;
  } = {},
): Promise<string> {
  const { value } = await askNode<{ value: { blockhash: string } }>(url, "getLatestBlockhash", [
    { commitment: "confirmed" },
  ]);
  const { lookupTables, skipPreflight = false } = options;
  const bytes = await signedTransaction(instructions, {
    signers,
    blockhash: value.blockhash,
    ...(lookupTables !== undefined && { lookupTables }),
  });
  return await askNode<string>(url, "sendTransaction", [bytes, { encoding: "base64", skipPreflight }]);
}

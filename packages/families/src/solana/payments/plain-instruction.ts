import type { Hex } from "@causeway/domain";

/** One instruction in the format of wallets and of the API's steps: keys in base58, data in hex. */
export interface PlainInstruction {
  readonly programId: string;
  readonly keys: readonly PlainAccount[];
  readonly data: Hex;
}

export interface PlainAccount {
  readonly pubkey: string;
  readonly isSigner: boolean;
  readonly isWritable: boolean;
}

export function readonlyAccount(pubkey: string): PlainAccount {
  return { pubkey, isSigner: false, isWritable: false };
}

export function writableAccount(pubkey: string): PlainAccount {
  return { pubkey, isSigner: false, isWritable: true };
}

/** A signer whose lamports or tokens change. */
export function payingAccount(pubkey: string): PlainAccount {
  return { pubkey, isSigner: true, isWritable: true };
}

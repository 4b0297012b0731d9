import { toHex, type Hex } from "@causeway/domain";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  payingAccount,
  readonlyAccount,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  writableAccount,
  type PlainInstruction,
} from "@causeway/families/solana";

/** The instructions of payments. All keys are in base58. Pure. */

/** @param lamports uint64 */
export function lamportTransferInstruction(from: string, to: string, lamports: bigint): PlainInstruction {
  return {
    programId: SYSTEM_PROGRAM,
    keys: [payingAccount(from), writableAccount(to)],
    data: numbers([4, 2n], [8, lamports]),
  };
}

export interface TokenTransfer {
  readonly tokenProgram: string;
  readonly mint: string;
  readonly decimals: number;
  /** Token accounts. */
  readonly from: string;
  readonly to: string;
  /** The account that may move the tokens of `from`. */
  readonly owner: string;
  /** uint64. */
  readonly amount: bigint;
}

/** A transfer that names the mint and its decimals, so that nothing unintended can be moved. */
export function tokenTransferInstruction(transfer: TokenTransfer): PlainInstruction {
  const { tokenProgram, mint, decimals, from, to, owner, amount } = transfer;
  return {
    programId: tokenProgram,
    keys: [
      writableAccount(from),
      readonlyAccount(mint),
      writableAccount(to),
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
    data: numbers([1, 12n], [8, amount], [1, BigInt(decimals)]),
  };
}

/** Creates a wallet's associated token account if it does not exist. */
export function createTokenAccountInstruction(accounts: {
  readonly payer: string;
  readonly tokens: string;
  readonly wallet: string;
  readonly mint: string;
  readonly tokenProgram: string;
}): PlainInstruction {
  return {
    programId: ASSOCIATED_TOKEN_PROGRAM,
    keys: [
      payingAccount(accounts.payer),
      writableAccount(accounts.tokens),
      readonlyAccount(accounts.wallet),
      readonlyAccount(accounts.mint),
      readonlyAccount(SYSTEM_PROGRAM),
      readonlyAccount(accounts.tokenProgram),
    ],
    data: "0x01",
  };
}

export function memoInstruction(text: string): PlainInstruction {
  return { programId: MEMO_PROGRAM, keys: [], data: toHex(new TextEncoder().encode(text)) };
}

/** Closes a wallet's account of wrapped SOL: all that it holds becomes the wallet's SOL. */
export function closeAccountInstruction(tokens: string, wallet: string): PlainInstruction {
  return {
    programId: TOKEN_PROGRAM,
    keys: [
      writableAccount(tokens),
      writableAccount(wallet),
      { pubkey: wallet, isSigner: true, isWritable: false },
    ],
    data: numbers([1, 9n]),
  };
}

/**
 * @param units maximum compute units of the transaction, uint32
 * @param price millionths of a lamport per unit, uint64; undefined: the wallet chooses
 */
export function computeInstructions(units: number, price?: bigint): readonly PlainInstruction[] {
  const budget = (data: Hex): PlainInstruction => ({ programId: COMPUTE_BUDGET_PROGRAM, keys: [], data });
  const limit = budget(numbers([1, 2n], [4, BigInt(units)]));
  return price === undefined ? [limit] : [limit, budget(numbers([1, 3n], [8, price]))];
}

/** Concatenated little-endian numbers: [bytes, value]. @throws RangeError if one does not fit */
function numbers(...parts: readonly (readonly [bytes: 1 | 4 | 8, value: bigint])[]): Hex {
  const data = new Uint8Array(parts.reduce((sum, [bytes]) => sum + bytes, 0));
  let offset = 0;
  for (const [bytes, value] of parts) {
    if (BigInt.asUintN(bytes * 8, value) !== value)
      throw new RangeError(`invariant violated: ${value} does not fit in ${bytes} bytes`);
    for (let byte = 0; byte < bytes; byte++) data[offset++] = Number((value >> BigInt(8 * byte)) & 0xffn);
  }
  return toHex(data);
}

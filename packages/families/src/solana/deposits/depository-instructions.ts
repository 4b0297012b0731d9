import { bytesOf, toHex, type Hex, type Hex32 } from "@causeway/domain";
import { associatedTokenAddress, type DepositoryAccounts } from "./depository-accounts.ts";
import {
  payingAccount,
  readonlyAccount,
  writableAccount,
  type PlainInstruction,
} from "../payments/plain-instruction.ts";
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from "../answers/programs.ts";

/** First 8 bytes of the data of the depository's instructions, and of its events. */
export const DEPOSIT_NATIVE: Hex = "0x0d9e0ddf5fd51c06";
export const DEPOSIT_TOKEN: Hex = "0x0b9c60da27a3b413";
export const EXECUTE_TRANSFER: Hex = "0xe97ea0b8ebce1f77";
export const DEPOSIT_EVENT: Hex = "0x78f83d531f8e6b90";
/** First 8 bytes of the accounts that the depository owns. */
export const DEPOSITORY_ACCOUNT: Hex = "0x80359cbdf353f56b";
export const USED_REQUEST_ACCOUNT: Hex = "0x87866e4d9662b46b";

export interface DepositTerms {
  readonly pdas: DepositoryAccounts;
  /** The account that signs and pays. Base58, like all keys here. */
  readonly sender: string;
  /** The depositor. Default: the sender. */
  readonly depositor?: string;
  /** Base units. */
  readonly amount: bigint;
  readonly id: Hex32;
}

export interface TokenDepositTerms extends DepositTerms {
  readonly mint: string;
  /** The token program of the mint. */
  readonly tokenProgram: string;
}

/** Deposits lamports. @throws RangeError if the amount is not a uint64 */
export function depositNativeInstruction({
  pdas,
  sender,
  depositor = sender,
  amount,
  id,
}: DepositTerms): PlainInstruction {
  return {
    programId: pdas.program,
    keys: [
      readonlyAccount(pdas.depository),
      payingAccount(sender),
      readonlyAccount(depositor),
      writableAccount(pdas.vault),
      readonlyAccount(SYSTEM_PROGRAM),
    ],
    data: depositData(DEPOSIT_NATIVE, amount, id),
  };
}

/**
 * Deposits tokens from the sender's associated token account.
 *
 * @throws RangeError if the amount is not a uint64
 */
export async function depositTokenInstruction(terms: TokenDepositTerms): Promise<PlainInstruction> {
  const { pdas, sender, depositor = sender, amount, id, mint, tokenProgram } = terms;
  const [from, to] = await Promise.all([
    associatedTokenAddress(sender, mint, tokenProgram),
    associatedTokenAddress(pdas.vault, mint, tokenProgram),
  ]);
  return {
    programId: pdas.program,
    keys: [
      readonlyAccount(pdas.depository),
      payingAccount(sender),
      readonlyAccount(depositor),
      readonlyAccount(pdas.vault),
      readonlyAccount(mint),
      writableAccount(from),
      writableAccount(to),
      readonlyAccount(tokenProgram),
      readonlyAccount(ASSOCIATED_TOKEN_PROGRAM),
      readonlyAccount(SYSTEM_PROGRAM),
    ],
    data: depositData(DEPOSIT_TOKEN, amount, id),
  };
}

function depositData(name: Hex, amount: bigint, id: Hex32): Hex {
  if (BigInt.asUintN(64, amount) !== amount)
    throw new RangeError("invariant violated: amount is not a uint64");
  const data = new Uint8Array(48);
  data.set(bytesOf(name), 0);
  new DataView(data.buffer).setBigUint64(8, amount, true);
  data.set(bytesOf(id), 16);
  return toHex(data);
}

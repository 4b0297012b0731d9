import { bytesOf, toHex, type Hex, type Hex32 } from "@causeway/domain";
import type { WithdrawalAnswer } from "../evidence.ts";
import { garbage } from "../rpc-fault.ts";
import { DEPOSITORY_ACCOUNT, USED_REQUEST_ACCOUNT } from "./deposits/depository-instructions.ts";
import type { DepositoryAccounts } from "./deposits/derived-addresses.ts";
import { decodeSolanaTransferRequest, solanaTransferRequestId } from "./withdrawals/transfer-request.ts";
import type { AccountFact } from "./answers/transaction-facts.ts";
import { SYSTEM_PROGRAM } from "./answers/programs.ts";

/** Reads withdrawal payloads and what became of them. Pure. */

export interface WithdrawalPayment {
  /** Under which the depository files it. */
  readonly id: Hex32;
  readonly recipient: string;
  readonly currency: string;
  readonly amount: bigint;
  /** Unix seconds; it can be carried out in blocks before this time. */
  readonly expiration: bigint;
}

/** What a payload pays out of this depository, or why it is none of it. */
export function readWithdrawal(
  pdas: DepositoryAccounts,
  payload: Hex,
): WithdrawalPayment | { readonly refusal: string } {
  const request = decodeSolanaTransferRequest(payload);
  if (request === undefined) return { refusal: "withdrawal is not an encoded transfer request" };
  const { recipient, token, amount, expiration, vaultAddress } = request;
  if (vaultAddress !== pdas.vault) return { refusal: "withdrawal is from a different vault" };
  if (recipient === pdas.vault) return { refusal: "withdrawal recipient must not be the vault" };
  if (amount === 0n) return { refusal: "withdrawal amount must be greater than 0" };
  return { id: solanaTransferRequestId(request), recipient, currency: token, amount, expiration };
}

/**
 * Three accounts of one final state: whether they are of this depository at all, whether it used the request,
 * and its time.
 */
export interface WithdrawalState {
  readonly depository: AccountFact | undefined;
  readonly usedRequest: AccountFact | undefined;
  readonly clock: AccountFact | undefined;
}

/**
 * The outcome of a request, by one final state. If it was used there, it is paid. If not, and that state's
 * clock is past its expiration, it never will be, because the clock never runs back and the program compares
 * with it. Lamports sent to the address of the note prove nothing.
 *
 * @throws RpcFault for a state that no such depository can have: a node of another cluster knows no request
 * either, and has a clock
 */
export function outcomeOf(
  pdas: DepositoryAccounts,
  expiration: bigint,
  { depository, usedRequest, clock }: WithdrawalState,
): WithdrawalAnswer["status"] {
  const method = "getMultipleAccounts";
  if (depository?.owner !== pdas.program || !startsWith(depository.data, DEPOSITORY_ACCOUNT))
    throw garbage(method, "depository account is missing");
  if (clock?.data.length !== 40) throw garbage(method, "clock account is missing");
  const now = new DataView(clock.data.buffer, clock.data.byteOffset).getBigInt64(32, true);
  if (usedRequest !== undefined && usedRequest.owner !== SYSTEM_PROGRAM) {
    const { owner, data } = usedRequest;
    if (owner !== pdas.program || !startsWith(data, USED_REQUEST_ACCOUNT) || data[8] !== 1)
      throw garbage(method, "record of the request cannot be read");
    return "executed";
  }
  if (usedRequest !== undefined && usedRequest.data.length > 0)
    throw garbage(method, "record of the request cannot be read");
  return now > expiration ? "expired" : "pending";
}

function startsWith(data: Uint8Array, name: Hex): boolean {
  return data.length > 8 && toHex(data.subarray(0, 8)) === toHex(bytesOf(name));
}

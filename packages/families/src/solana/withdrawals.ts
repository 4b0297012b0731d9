import { bytesOf, toHex, type Hex, type Hex32 } from "@causeway/domain";
import type { WithdrawalAnswer } from "../evidence.ts";
import { garbage } from "../rpc-fault.ts";
import { DEPOSITORY_ACCOUNT, USED_REQUEST_ACCOUNT } from "./deposits/depository-instructions.ts";
import type { DepositoryAccounts } from "./deposits/depository-accounts.ts";
import { decodeSolanaTransferRequest, solanaTransferRequestId } from "./withdrawals/transfer-request.ts";
import type { AccountFact } from "./answers/transaction-facts.ts";
import { SYSTEM_PROGRAM } from "./answers/programs.ts";

/** Reads withdrawal payloads and their outcome. Pure. */

export interface WithdrawalPayment {
  /** The id under which the depository records the withdrawal. */
  readonly id: Hex32;
  readonly recipient: string;
  readonly currency: string;
  readonly amount: bigint;
  /** Unix seconds: the payload can be executed in blocks before this time. */
  readonly expiration: bigint;
}

/** The payment of a payload from this depository, or why it is not one. */
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
 * Three accounts of one final state. They show whether the depository exists, whether it executed the
 * request, and the time.
 */
export interface WithdrawalState {
  readonly depository: AccountFact | undefined;
  readonly usedRequest: AccountFact | undefined;
  readonly clock: AccountFact | undefined;
}

/**
 * The outcome of a request in one final state. A recorded request was paid. If there is no record, and the
 * state's clock is past the expiration, the request can never be paid, because the clock never decreases and
 * the program checks it. Lamports sent to the address of the record prove nothing.
 *
 * @throws RpcFault for a state that is impossible for the depository: a node of another cluster has a clock
 * too, but no requests
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

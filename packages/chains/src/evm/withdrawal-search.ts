import { NATIVE_CURRENCY, type Address, type Hex, type Hex32, type TxHash } from "@causeway/domain";
import { final, refuted, type Evidence, type WithdrawalAnswer } from "@causeway/families";
import { readWithdrawal } from "@causeway/families/evm";
import type { FinalReads } from "./final-reads.ts";
import type { RequestState } from "./request-state.ts";
import { proveExecution } from "./withdrawal-reads.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** A chain that runs EVM contracts: an EVM chain, or Tron. */
export interface Machine {
  readonly transaction: FinalReads["transaction"];
  readonly request: RpcTransport["request"];
  /** The states of a request at all depositories, in their order. */
  requestStates(id: Hex32): Promise<Evidence<readonly RequestState[]>>;
  /** An address in the chain's format. */
  format(address: Address): string;
  readonly retryAfterSeconds: number;
}

/**
 * The outcome of a withdrawal payload. A payload does not name its depository, so it has expired only if no
 * depository executed it.
 * @param depositories the current one first
 * @throws RpcFault
 */
export async function searchWithdrawal(
  machine: Machine,
  depositories: readonly [Address, ...Address[]],
  payload: Hex,
  { hint, lookBackBlocks }: { readonly hint: TxHash | undefined; readonly lookBackBlocks: bigint },
): Promise<Evidence<WithdrawalAnswer>> {
  const payment = readWithdrawal(payload);
  if ("refusal" in payment) return refuted(payment.refusal);
  const { id, recipient, currency, amount, expiration } = payment;
  if (depositories.every((candidate) => candidate === recipient)) return RECIPIENT_IS_DEPOSITORY;
  const evidence = await machine.requestStates(id);
  if (evidence.kind !== "final") return evidence;
  const states = evidence.value;
  const answer = (address: Address, status: WithdrawalAnswer["status"], former: readonly Address[] = []) =>
    final<WithdrawalAnswer>({
      withdrawalId: id,
      depository: machine.format(address),
      ...(former.length > 0 && { formerDepositories: former.map(machine.format) }),
      status,
      recipient: machine.format(recipient),
      currency: machine.format(currency),
      amount,
    });
  const used = states.find(({ isUsed }) => isUsed);
  if (used === undefined) {
    const [current, ...former] = depositories;
    const isExpired = states.every(({ timestamp }) => timestamp > expiration);
    return answer(current, isExpired ? "expired" : "pending", former);
  }
  const { depository, blockNumber: upTo } = used;
  if (depository === recipient) return RECIPIENT_IS_DEPOSITORY;
  // The native token has moved, because the request would not be used if its call had failed.
  if (currency === NATIVE_CURRENCY) return answer(depository, "executed");
  const { retryAfterSeconds } = machine;
  const search = { depository, payment, upTo, lookBackBlocks, hint, retryAfterSeconds };
  const proof = await proveExecution(machine, machine, search);
  return proof.kind === "final" ? answer(depository, "executed") : proof;
}

const RECIPIENT_IS_DEPOSITORY = refuted("withdrawal recipient must not be the depository");

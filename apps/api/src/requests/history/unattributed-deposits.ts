import type { TxHash } from "@causeway/domain";
import type { DepositRecord } from "../../db/records.port.ts";
import type { UnattributedDeposit } from "./past-requests.port.ts";
import type { Services } from "../../db/services.port.ts";
import { addressFormatOf } from "../../chains/index.ts";

export type UnattributedServices = Pick<Services, "chains"> & {
  readonly enginePolicy: Pick<Services["enginePolicy"], "unattributedRefundAfterMs">;
  readonly reads: Pick<Services["reads"], "depositsWithoutRequest">;
};

/**
 * Lists deposits in these transactions that belong to no known request (only the first ones, if there are
 * many), and where each of them is.
 * @param chainIds undefined: all chains
 */
export async function unattributedDeposits(
  { chains, reads, enginePolicy }: UnattributedServices,
  txHashes: readonly TxHash[],
  chainIds = [...chains.evmChains, ...chains.nonEvmChains].map(({ chain }) => chain.id),
): Promise<readonly UnattributedDeposit[]> {
  const deposits = txHashes.length === 0 ? [] : await reads.depositsWithoutRequest(chainIds, txHashes);
  const format = addressFormatOf(chains);
  return deposits.map((deposit) => {
    const { chainId, txHash, currency, amount } = deposit;
    const depositor = format.address(chainId, deposit.depositor);
    const keepsUnattributed = chains.profile(chainId)?.keepsUnattributed === true;
    const waitMs = keepsUnattributed ? undefined : enginePolicy.unattributedRefundAfterMs;
    return {
      chainId,
      txHash: format.transaction(chainId, txHash),
      depositor,
      currency: format.address(chainId, currency),
      amount,
      ...describeState(deposit, depositor, waitMs),
    };
  });
}

/** Where an unattributed deposit is: its state, and the end of a sentence. */
function describeState(
  { disposition, refundState, refundFailReason, refundWaits, seenAtMs }: DepositRecord,
  depositor: string,
  waitMs: number | undefined,
): Pick<UnattributedDeposit, "state" | "message"> {
  if (refundState === "final") return { state: "refunded", message: `it was refunded to ${depositor}` };
  if (refundFailReason === "AMOUNT_TOO_LOW_TO_REFUND")
    return {
      state: "held",
      message: "it is worth less than the gas of its refund and stays in the depository",
    };
  if (disposition === "refund" && refundState !== "impossible" && refundWaits === undefined)
    return { state: "refunding", message: `its refund to ${depositor}, minus gas, is in progress` };
  if (disposition === "unattributed" && refundWaits === undefined && waitMs !== undefined) {
    const refundAt = new Date(seenAtMs + waitMs).toISOString();
    return {
      state: "waiting",
      message: `it is refunded to ${depositor}, minus gas, after ${refundAt} if it is worth more than the gas`,
    };
  }
  if (disposition === "refund" && refundState === "none")
    return {
      state: "held",
      message: `its refund to ${depositor} waits until the daily limit of such refunds has room or the operator releases it`,
    };
  return { state: "held", message: "it stays in the depository until the operator refunds it" };
}

/** Answers the report of a recorded transaction: the reporter learns of deposits that no status shows. */
export async function describeIndexed(
  services: UnattributedServices,
  chainId: number,
  txHash: TxHash,
): Promise<{ message: string }> {
  const [unattributed] = await unattributedDeposits(services, [txHash], [chainId]);
  const message = "Transaction indexed";
  if (unattributed === undefined) return { message };
  return {
    message: `${message}, but one of its deposits does not match any known request: ${unattributed.message}`,
  };
}

import { decide } from "@causeway/domain";
import type { DepositId } from "@causeway/domain";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { judgeRefundRelease } from "./judge-refund-release.ts";
import type { ReleaseVerdict } from "./judge-refund-release.ts";
import { refundJob } from "../requests/index.ts";

export interface ReleaseServices extends Pick<Services, "clock" | "uow"> {
  readonly reads: Pick<Services["reads"], "deposit" | "cursor">;
  readonly chains: Pick<ChainDirectory, "profile" | "currency">;
}

/** A verdict and the deposit it is about. */
export interface Release {
  readonly verdict: ReleaseVerdict;
  readonly deposit: DepositRecord;
}

/**
 * Releases a refund that waits for the operator, exempt from the daily limit: the usual job pays it.
 * Idempotent.
 * @param isDryRun checks without releasing
 * @returns undefined if the deposit does not exist
 */
export async function releaseRefund(
  services: ReleaseServices,
  depositId: DepositId,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<Release | undefined> {
  const read = await services.reads.deposit(depositId);
  if (read === undefined) return undefined;
  const head = await services.reads.cursor(read.chainId);
  return await services.uow.run(async (tx) => {
    // Locks in the same order everywhere: request, deposit.
    const request = read.requestId === undefined ? undefined : await tx.requests.lock(read.requestId);
    const isUnmapped = (await tx.nonEvm.lockUnmapped(depositId)) !== undefined;
    const deposit = await tx.deposits.lock(depositId);
    if (deposit === undefined) return undefined;
    if (deposit.requestId !== read.requestId)
      return {
        deposit,
        verdict: {
          kind: "refused",
          reason: "the deposit was just attributed to a request: run the command again",
        },
      };
    const verdict = judgeRefundRelease({
      deposit,
      request,
      fillDeposit: await otherFillDeposit(tx, request, depositId),
      chain: services.chains.profile(deposit.chainId),
      currency: services.chains.currency(deposit.chainId, deposit.currency),
      headNumber: head?.number,
      isUnmapped,
    });
    if (verdict.kind === "release" && !isDryRun) await release(services, tx, deposit, request, verdict);
    return { deposit, verdict };
  });
}

async function otherFillDeposit(
  tx: Tx,
  request: RequestRecord | undefined,
  depositId: DepositId,
): Promise<DepositRecord | undefined> {
  const fillDepositId = request?.state.depositId;
  return fillDepositId === undefined || fillDepositId === depositId
    ? undefined
    : await tx.deposits.lock(fillDepositId);
}

async function release(
  { clock }: ReleaseServices,
  tx: Tx,
  deposit: DepositRecord,
  request: RequestRecord | undefined,
  { recipient, why }: Extract<ReleaseVerdict, { kind: "release" }>,
): Promise<void> {
  const atMs = clock.nowMs();
  await tx.deposits.releaseRefund(deposit.id, atMs);
  if (deposit.disposition === "unattributed") {
    const reason = deposit.isUnattestable === true ? "DEPOSIT_UNATTESTABLE" : "ORPHANED_DEPOSIT_REFUND";
    await tx.deposits.setDispositions([{ id: deposit.id, disposition: "refund", reason }]);
  }
  if (request !== undefined) {
    const { requestId } = request.terms;
    const decision = decide(request.state, { kind: "refundReleased", depositId: deposit.id });
    const isApplied = decision.kind === "applied";
    if (isApplied) await tx.requests.save(requestId, { state: decision.next }, atMs);
    await tx.requests.note(requestId, atMs, "refundReleased", {
      ...(isApplied && { from: request.state.name, to: decision.next.name }),
      depositId: deposit.id,
      chainId: deposit.chainId,
      currency: deposit.currency,
      amount: deposit.amount,
      recipient,
      why,
    });
  }
  await tx.outbox.add([refundJob(deposit.id, atMs)], atMs);
}

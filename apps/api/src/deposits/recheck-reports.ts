import { RpcFault } from "@causeway/chains";
import { ServiceError } from "@causeway/domain";
import type { ErrorCode, RequestId, TxHash } from "@causeway/domain";
import type { DueOnChain } from "./due-on-chain.port.ts";
import type { Services } from "../db/services.port.ts";

type Report = { readonly chainId: number; readonly txHash: TxHash; readonly requestId: RequestId };

interface Needs {
  readonly reads: Pick<Services["reads"], "overdueReported">;
  readonly events: Pick<Services["events"], "fault">;
  /** Records the transaction's deposits. @throws ServiceError @throws RpcFault */
  readonly index: (report: Report) => Promise<unknown>;
}

/** Errors that mean that there is nothing to record, now or later. */
const NOTHING_TO_RECORD: ReadonlySet<ErrorCode> = new Set(["TRANSACTION_NOT_FOUND", "UNSUPPORTED_CHAIN"]);

/** Requests of one chain per round; each costs a few node calls. */
const BATCH = 50;
/** A slow node delays its own requests to the next round, not those of other chains. */
const CHECK_WITHIN_MS = 2_000;

/**
 * Indexes the reported origin transactions of requests past their deadline on one chain, before these expire.
 * @returns the requests whose transactions were checked: any deposit is recorded now
 */
export async function recheckReports(services: Needs, due: DueOnChain): Promise<RequestId[]> {
  const { chainId } = due;
  const reported = await services.reads.overdueReported(due, BATCH);
  const checked: RequestId[] = [];
  let isOver = false;
  const checks = reported.map(async ({ requestId, txHashes }) => {
    try {
      for (const txHash of txHashes) {
        if (isOver) return;
        await checkReport(services, { chainId, txHash, requestId });
      }
      checked.push(requestId);
    } catch (error) {
      if (!(error instanceof RpcFault) && !(error instanceof ServiceError)) throw error;
      services.events.fault("chain_fault", error, { requestId });
    }
  });
  await withinTime(Promise.all(checks), CHECK_WITHIN_MS);
  isOver = true;
  return [...checked];
}

/** @throws if it is unknown whether the transaction deposited anything */
async function checkReport({ index }: Needs, report: Report): Promise<void> {
  try {
    await index(report);
  } catch (error) {
    if (!(error instanceof ServiceError) || !NOTHING_TO_RECORD.has(error.code)) throw error;
  }
}

/** Waits for `work` up to this time; it continues in the background. @throws what `work` throws in time */
async function withinTime(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, isOver]);
  } finally {
    clearTimeout(timer);
  }
}

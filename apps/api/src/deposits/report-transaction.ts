import type { RequestId } from "@causeway/domain";
import type { Reporter } from "../db/report-turns.ts";
import type { UnitOfWork } from "../db/unit-of-work.port.ts";
import { indexTransaction } from "./index-transaction.ts";
import { recordSingleTransaction } from "./record-single-transaction.ts";
import { readReport, type TransactionReport } from "./reported-transaction.ts";

type Message = { message: string };

/** Limits how many reports use the database concurrently. */
interface ReportTurns {
  /** For reports that lock the chain's cursor, and so wait for its scan. */
  readonly reportTurnOf: (reporter: Reporter) => UnitOfWork;
  /** For reports that lock only the row of their request. */
  readonly requestTurnOf: (reporter: Reporter) => UnitOfWork;
}

const turnsOf = ({ reportTurnOf, requestTurnOf }: ReportTurns, reporter: Reporter) => ({
  uow: reportTurnOf(reporter),
  requestUow: requestTurnOf(reporter),
});

/** Answers identical reports within a short time only once. */
interface SharedReports {
  readonly sharedReports: (key: string, answer: () => Promise<Message>) => Promise<Message>;
}

/**
 * Indexes a transaction that a client reports.
 * @param caller takes turns with other callers
 * @throws ServiceError as {@link indexTransaction}; INVALID_REQUEST for a malformed transaction id
 */
export async function reportTransaction(
  services: Parameters<typeof indexTransaction>[0] & ReportTurns & SharedReports,
  report: TransactionReport & { readonly requestId?: RequestId },
  caller: string,
): Promise<Message> {
  const { chainId, txHash, requestId } = report;
  // By caller, because the refusal of one caller must not be shared with another.
  const key = `${caller}:${chainId}:${txHash}:${requestId ?? ""}`;
  const turns = turnsOf(services, { caller, chainId });
  return await services.sharedReports(
    key,
    async () => await indexTransaction({ ...services, ...turns }, readReport(services.chains, report)),
  );
}

/**
 * Records a same-chain transaction that a client reports.
 * @param caller takes turns with other callers
 * @throws ServiceError as {@link recordSingleTransaction}; INVALID_REQUEST for a malformed transaction id
 */
export async function reportSingleTransaction(
  services: Parameters<typeof recordSingleTransaction>[0] & ReportTurns,
  report: TransactionReport & { readonly requestId: RequestId },
  caller: string,
): Promise<Message> {
  const turns = turnsOf(services, { caller, chainId: report.chainId });
  return await recordSingleTransaction({ ...services, ...turns }, readReport(services.chains, report));
}

import type { OrderId, RequestId, TxHash } from "@causeway/domain";
import type {
  HistoryCondition,
  HistoryField,
  HistoryQuestion,
  ListedRequest,
  RequestHistory,
} from "./request-history.port.ts";
import type { ListQuestion, RequestPage } from "./past-requests.port.ts";
import type { Searcher, SearchLimiter } from "../../http/usage.port.ts";
import type { Services } from "../../db/services.port.ts";
import { unattributedDeposits } from "./unattributed-deposits.ts";
import type { UnattributedServices } from "./unattributed-deposits.ts";
import { pastRequest } from "./past-request.ts";

/** Requests are counted up to this number. */
export const MAX_COUNTED = 10_000;

const TRANSACTION_FIELDS: ReadonlySet<HistoryField> = new Set(["hash", "depositTxHash", "term"]);

export type HistoryServices = Pick<Services, "chains"> & {
  readonly history: RequestHistory;
};

type Needs = HistoryServices & UnattributedServices & { readonly searchLimiter: SearchLimiter };

/**
 * One page of past requests with their outcome. Unpaid quotes are found only by their own id or order: there
 * may be a thousand per paid request, and indexing them would cost each quote more than quoting does.
 */
export async function listRequests(
  services: Needs,
  question: ListQuestion,
  searcher: Searcher,
): Promise<RequestPage> {
  const { history, searchLimiter } = services;
  const { wantsTotal, limit } = question;
  // Sequentially: a turn allows one connection.
  const { pageRows, counted, unattributed } = await searchLimiter.run(searcher, async () => ({
    // One extra row shows whether there is another page.
    pageRows: await history.page({ ...question, limit: limit + 1 }),
    counted: wantsTotal ? await history.count(question, MAX_COUNTED + 1) : undefined,
    unattributed: await unattributedDeposits(services, namedTransactions(question)),
  }));
  const rows = pageRows.slice(0, limit);
  const last = rows.at(-1);
  const unpaid = rows.length === 0 && question.after === undefined ? await namedIds(history, question) : [];
  const details = await history.stories([...rows.map((row) => row.requestId), ...unpaid]);
  const listed = new Map<RequestId, ListedRequest>(rows.map((row) => [row.requestId, row]));
  const requests = [...rows.map((row) => row.requestId), ...unpaid].flatMap((requestId) => {
    const detail = details.get(requestId);
    const entry = listed.get(requestId);
    // Archiving removed the request from the lists, so its id does not find it either.
    if (detail === undefined || (entry === undefined && detail.archivedMonths !== undefined)) return [];
    return pastRequest(services, detail, entry);
  });
  const count =
    counted === undefined ? undefined : Math.max(counted, unpaid.length === 0 ? 0 : requests.length);
  return {
    requests,
    next: pageRows.length > limit ? last?.place : undefined,
    total:
      count === undefined
        ? undefined
        : { count: Math.min(count, MAX_COUNTED), isCapped: count > MAX_COUNTED },
    unattributed,
  };
}

/** Transactions named by the question. Later pages do not repeat their unattributed deposits. */
function namedTransactions({ conditions, after }: HistoryQuestion): readonly TxHash[] {
  if (after !== undefined) return [];
  return conditions.flatMap((condition) =>
    condition.kind === "is" && condition.not !== true && TRANSACTION_FIELDS.has(condition.field)
      ? (condition.values as readonly TxHash[])
      : [],
  );
}

/** The requests that a question names by id or order, if it has no other condition. */
async function namedIds(
  history: RequestHistory,
  { conditions, groups, limit }: HistoryQuestion,
): Promise<readonly RequestId[]> {
  const [condition, ...others] = conditions;
  if (condition === undefined || others.length > 0 || groups.length > 0 || !isNaming(condition)) return [];
  if (condition.field === "id") return (condition.values as readonly RequestId[]).slice(0, limit);
  const ids = await Promise.all(
    condition.values.slice(0, limit).map(async (orderId) => await history.idOfOrder(orderId as OrderId)),
  );
  return ids.filter((id) => id !== undefined);
}

function isNaming(condition: HistoryCondition): condition is Extract<HistoryCondition, { kind: "is" }> {
  return (
    condition.kind === "is" &&
    condition.not !== true &&
    (condition.field === "id" || condition.field === "orderId")
  );
}

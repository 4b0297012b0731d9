import { requestsAnswer, requestsQuery } from "@causeway/wire";
import type { RequestsAnswer, RequestsQuery, UnattributedDepositJson } from "@causeway/wire";
import type { FastifyRequest } from "fastify";
import type { ApiKeyIdentity } from "../../http/api-keys.port.ts";
import type { PastRequest, RequestPage, UnattributedDeposit } from "./past-requests.port.ts";
import type { Searcher } from "../../http/usage.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";
import type { Calls } from "../../http/use-cases.port.ts";
import { isPublishable } from "../../http/publishable-key.ts";
import { hasSecretKey, requireKey } from "../../http/access.route.ts";
import { listRequests } from "./list-requests.ts";
import { pastRequestJson } from "./past-request-json.ts";
import type { Visibility } from "./past-request-json.ts";
import { callerOf } from "../../http/rate-limit.route.ts";
import { continuationText, questionOf } from "./requests-question.route.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";

export interface HistoryRouteNeeds extends Calls<typeof listRequests> {
  readonly addressFormat: AddressFormat;
}

/** `GET /requests/v3`: past requests. */
export function requestsV3Route(app: TypedServer, { call, addressFormat }: HistoryRouteNeeds): void {
  app.get(
    "/requests/v3",
    {
      config: { access: { kind: "anybody", scope: "read" } },
      schema: {
        tags: ["requests"],
        operationId: "listRequests",
        summary: "List past requests",
        description:
          "Requires a key with the scope `read`; finding requests by `id` needs no key. A publishable key must select requests by `id`, `orderId`, a transaction hash, `user`, `recipient`, `term` or `depositAddress`. The list contains every request that was paid, executed with `POST /execute`, or fast filled. An unpaid quote is found only by its `id` or `orderId`, and is deleted some time after it expires. Call data longer than 1,024 bytes is shown only if the query selects the request by `id` or `orderId`.",
        querystring: requestsQuery,
        response: { 200: requestsAnswer, ...errors(400, 401, 403, 429, 500, 503) },
      },
    },
    async ({ apiKey, query, ip }) => {
      // Pages in browsers read their own requests without a key.
      if (query.id === undefined) requireKey({ apiKey }, "read");
      const question = questionOf(query, apiKey);
      const page = await call(listRequests, question, searcherOf({ apiKey, ip }));
      return {
        requests: page.requests.map((past) =>
          pastRequestJson(past, visibilityOf(query, apiKey, past), addressFormat),
        ),
        ...pageFields(page, question),
      };
    },
  );
}

export function searcherOf({ apiKey, ip }: Pick<FastifyRequest, "apiKey" | "ip">): Searcher {
  return { name: callerOf({ apiKey, ip }), hasSecretKey: hasSecretKey({ apiKey }) };
}

/** The additional data of a page. */
export function pageFields(
  { next, total, unattributed }: RequestPage,
  { sort, isAscending }: ReturnType<typeof questionOf>,
): Pick<RequestsAnswer, "continuation" | "total" | "totalIsCapped" | "unattributedDeposits"> {
  return {
    ...(next === undefined ? {} : { continuation: continuationText(next, sort, isAscending) }),
    ...(total === undefined ? {} : { total: total.count, totalIsCapped: total.isCapped }),
    ...(unattributed.length === 0 ? {} : { unattributedDeposits: unattributed.map(unattributedJson) }),
  };
}

function unattributedJson({ amount, message, ...rest }: UnattributedDeposit): UnattributedDepositJson {
  const sentence = `The deposit does not match any known request: ${message}`;
  return { ...rest, amount: String(amount), message: sentence };
}

/** Fields that only the request's own secret key may see. */
export function visibilityOf(
  { includeAuthenticatedData, id, orderId }: RequestsQuery,
  caller: ApiKeyIdentity | undefined,
  { terms }: PastRequest,
): Visibility {
  const isRequested = includeAuthenticatedData === true || includeAuthenticatedData === "true";
  const isOwnKey = caller !== undefined && !isPublishable(caller) && terms.keyId === caller.id;
  return {
    showsAppData: isRequested && isOwnKey,
    showsAddressKey: isOwnKey,
    showsAllCallData: selectsOneRequest(id ?? orderId),
  };
}

/** Whether a query names a single request. */
function selectsOneRequest(names: RequestsQuery["id"]): boolean {
  return names !== undefined && [names].flat().join(",").split(",").length === 1;
}

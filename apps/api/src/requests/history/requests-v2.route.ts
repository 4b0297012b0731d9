import { requestsAnswerV2, requestsQuery } from "@causeway/wire";
import { listRequests } from "./list-requests.ts";
import { deprecatedRoute } from "../../http/deprecated.route.ts";
import { pastRequestV2Json } from "./past-request-json.ts";
import { pageFields, searcherOf, visibilityOf, type HistoryRouteNeeds } from "./requests-v3.route.ts";
import { questionOf } from "./requests-question.route.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";

const SUCCESSOR = "/requests/v3";

/**
 * `GET /requests/v2` and `/requests`: the list in its older form. Without a secret key the requests must be
 * named.
 */
export function requestsV2Routes(app: TypedServer, { call, addressFormat }: HistoryRouteNeeds): void {
  const { onRequest, deprecation } = deprecatedRoute(SUCCESSOR);
  for (const [url, operationId] of [
    ["/requests/v2", "listRequestsV2"],
    ["/requests", "listRequestsV1"],
  ] as const) {
    app.get(
      url,
      {
        config: { access: { kind: "anybody", scope: "read" } },
        schema: {
          tags: ["requests"],
          operationId,
          summary: "Past requests in the earlier format of GET /requests/v3",
          description:
            "Without a secret key, select requests by `id`, `orderId`, a transaction hash, `user`, `recipient`, `term` or `depositAddress`. Call data longer than 1,024 bytes is shown only if the query selects the request by `id` or `orderId`.",
          deprecated: true,
          querystring: requestsQuery,
          response: { 200: requestsAnswerV2, ...errors(400, 401, 403, 429, 500, 503) },
        },
        onRequest,
      },
      async ({ apiKey, query, ip }) => {
        const question = questionOf(query, apiKey);
        const page = await call(listRequests, question, searcherOf({ apiKey, ip }));
        return {
          requests: page.requests.map((past) =>
            pastRequestV2Json(past, visibilityOf(query, apiKey, past), addressFormat),
          ),
          ...pageFields(page, question),
          deprecation: { successor: SUCCESSOR, sunset: deprecation.sunsetAt },
        };
      },
    );
  }
}

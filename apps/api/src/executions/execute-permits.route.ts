import { permitMethods, ServiceError } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import { permitAnswer, permitQuery, permitRequest } from "@causeway/wire";
import type { StoredAnswer } from "../http/idempotency.port.ts";
import type { Calls } from "../http/use-cases.port.ts";
import { acceptClaim } from "../balances/index.ts";
import { executePermit } from "./permits/execute-permit.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseHash } from "../http/wire-values.ts";
import { withIdempotency, type IdempotencyServices } from "../http/with-idempotency.route.ts";

/** The `kind` values with which clients post the signature of a claim. */
const CLAIM_KINDS: ReadonlySet<string> = new Set(["claim", "request"]);
const PERMIT_KINDS: ReadonlySet<string> = new Set(permitMethods);
const CLAIMED = { status: 200, body: JSON.stringify({ message: "Claim accepted" }) };

/** `POST /execute/permits`: every signature that a step requests is posted here. */
export function executePermitsRoute(
  app: TypedServer,
  needs: IdempotencyServices & Calls<typeof acceptClaim | typeof executePermit>,
): void {
  app.post(
    "/execute/permits",
    {
      schema: {
        tags: ["execute"],
        operationId: "submitPermit",
        summary: "Post the signature of a step",
        description:
          "Takes the signature for a quote requested with `usePermit`, or for a claim. The service checks it against the quote, simulates it on the latest state and submits it; " +
          "follow the status of the request. Posting the same signature again has no effect and returns the same response.",
        querystring: permitQuery,
        body: permitRequest,
        response: { 200: permitAnswer, ...errors(400, 401, 403, 409, 413, 415, 422, 429, 500, 503) },
      },
    },
    async (request, reply) =>
      await withIdempotency(needs, request, reply, async (lease) => {
        const { kind } = request.body;
        const requestId = parseHash(request.body.requestId);
        const signature = request.query.signature.toLowerCase() as Hex;
        const answerToKeep = (answer: StoredAnswer) => lease && { lease, answer };
        if (CLAIM_KINDS.has(kind)) {
          await needs.call(acceptClaim, requestId, signature, answerToKeep(CLAIMED));
          return CLAIMED;
        }
        if (!PERMIT_KINDS.has(kind))
          throw new ServiceError(
            "UNSUPPORTED_EXECUTION_TYPE",
            `kind must be one of ${[...PERMIT_KINDS, ...CLAIM_KINDS].join(", ")}, got ${kind.slice(0, 64)}`,
            {
              field: "kind",
            },
          );
        const answer = { status: 200, body: JSON.stringify({ message: "Signature accepted", requestId }) };
        await needs.call(executePermit, { kind, requestId, signature }, answerToKeep(answer));
        return answer;
      }),
  );
}

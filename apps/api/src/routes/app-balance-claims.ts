import { ServiceError } from "@causeway/domain";
import {
  claimAnswer,
  claimRequest,
  messageAnswer,
  permitQuery,
  permitRequest,
  walletParams,
} from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { offerJson } from "./app-balance-json.ts";
import { errors, type TypedServer } from "./typed.ts";
import { chainId, hash } from "./wire-values.ts";
import { evmAddress, walletOf } from "./wallet-access.ts";
import { withIdempotency } from "./with-idempotency.ts";

/** Kinds under which clients post the signature of a claim. */
const CLAIM_KINDS: ReadonlySet<string> = new Set(["claim", "request"]);
const ACCEPTED = { status: 200, body: JSON.stringify({ message: "Claim accepted" }) };

/** `POST /app-fees/{wallet}/claim` offers a payout, `POST /execute/permits` takes the wallet's signature for it. */
export function appBalanceClaimRoutes(
  app: TypedServer,
  services: Pick<RouteServices, "appBalance" | "idempotency" | "clock">,
): void {
  const tags = ["app balance"];
  const failures = errors(400, 401, 403, 409, 413, 415, 422, 429, 500, 503);

  app.post(
    "/app-fees/:wallet/claim",
    {
      schema: {
        tags,
        summary: "Take money out of an app balance: the step to sign",
        description:
          "No money moves before the wallet has signed. Active holds cannot be claimed. The payout's gas is taken beside the amount.",
        params: walletParams,
        body: claimRequest,
        response: { 200: claimAnswer, ...failures },
      },
    },
    async (request, reply) =>
      await withIdempotency(services, request, reply, async () => {
        const { params, body } = request;
        const claim = await services.appBalance.offerClaim({
          wallet: walletOf(params.wallet),
          chainId: chainId(body.chainId),
          currency: evmAddress(body.currency, "currency"),
          recipient: evmAddress(body.recipient, "recipient"),
          amount: body.amount === undefined ? undefined : BigInt(body.amount),
        });
        return { status: 200, body: JSON.stringify(offerJson(claim)) };
      }),
  );

  app.post(
    "/execute/permits",
    {
      schema: {
        tags: ["execute"],
        summary: "Post the signature of a step",
        description: "The same signature may be posted again: it changes nothing.",
        querystring: permitQuery,
        body: permitRequest,
        response: { 200: messageAnswer, ...failures },
      },
    },
    async (request, reply) =>
      await withIdempotency(services, request, reply, async (lease) => {
        const { kind, requestId } = request.body;
        if (!CLAIM_KINDS.has(kind))
          throw new ServiceError("UNSUPPORTED_EXECUTION_TYPE", `permits of kind ${kind} are not taken`, {
            field: "kind",
          });
        const { signature } = request.query;
        await services.appBalance.acceptClaim(
          hash(requestId),
          signature.toLowerCase() as `0x${string}`,
          lease && { lease, answer: ACCEPTED },
        );
        return ACCEPTED;
      }),
  );
}

import { claimAnswer, claimRequest, walletParams } from "@causeway/wire";
import type { Calls } from "../http/use-cases.port.ts";
import { offerJson } from "./app-balance-json.ts";
import { offerClaim } from "./offer-claim.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseChainId } from "../http/wire-values.ts";
import { evmAddress, walletOf } from "../http/wallet-access.route.ts";
import { withIdempotency, type IdempotencyServices } from "../http/with-idempotency.route.ts";

/**
 * `POST /app-fees/{wallet}/claim` offers a payout. The wallet's signature is posted to `POST
 * /execute/permits`.
 */
export function appBalanceClaimRoutes(
  app: TypedServer,
  needs: IdempotencyServices & Calls<typeof offerClaim>,
): void {
  const tags = ["app balance"];
  const failures = errors(400, 401, 403, 409, 413, 415, 422, 429, 500, 503);

  app.post(
    "/app-fees/:wallet/claim",
    {
      schema: {
        tags,
        operationId: "claimAppBalance",
        summary: "Withdraw from an app balance: get the step to sign",
        description:
          "No funds move before the wallet signs. Funds under active holds cannot be claimed. The gas of the payout is charged on top of the amount.",
        params: walletParams,
        body: claimRequest,
        response: { 200: claimAnswer, ...failures },
      },
    },
    async (request, reply) =>
      await withIdempotency(needs, request, reply, async () => {
        const { params, body } = request;
        const claim = await needs.call(offerClaim, {
          wallet: walletOf(params.wallet),
          chainId: parseChainId(body.chainId),
          currency: evmAddress(body.currency, "currency"),
          recipient: evmAddress(body.recipient, "recipient"),
          amount: body.amount === undefined ? undefined : BigInt(body.amount),
        });
        return { status: 200, body: JSON.stringify(offerJson(claim)) };
      }),
  );
}

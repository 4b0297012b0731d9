import { reindexAddressAnswer, reindexAddressRequest } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { errors, type TypedServer } from "./typed.ts";
import { chainId } from "./wire-values.ts";

/** `POST /transactions/deposit-address/reindex`: look at a deposit address now. */
export function depositAddressReindexRoute(
  app: TypedServer,
  { depositAddresses }: Pick<RouteServices, "depositAddresses">,
): void {
  app.post(
    "/transactions/deposit-address/reindex",
    {
      config: { access: { kind: "anybody", scope: "read" } },
      schema: {
        tags: ["transactions"],
        operationId: "reindexDepositAddress",
        summary: "Look at a deposit address now",
        description:
          "Addresses are looked at by themselves, on every chain that has them: with each block for a day after they were given out or paid, in turns later. This looks at once, also for a token that is not listed, and decides anew about what is on hold there.",
        body: reindexAddressRequest,
        response: { 200: reindexAddressAnswer, ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503) },
      },
    },
    ({ body }) =>
      depositAddresses.reindex({
        chainId: chainId(body.chainId),
        depositAddress: body.depositAddress,
        targetChainId:
          body.targetChainId === undefined ? undefined : chainId(body.targetChainId, "targetChainId"),
        currency: body.currency,
      }),
  );
}

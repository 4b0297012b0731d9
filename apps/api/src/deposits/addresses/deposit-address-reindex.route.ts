import { reindexAddressAnswer, reindexAddressRequest } from "@causeway/wire";
import type { Calls } from "../../http/use-cases.port.ts";
import { reindexAddress } from "./reindex-address.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import { parseChainId } from "../../http/wire-values.ts";

/** `POST /transactions/deposit-address/reindex`: scan a deposit address now. */
export function depositAddressReindexRoute(app: TypedServer, { call }: Calls<typeof reindexAddress>): void {
  app.post(
    "/transactions/deposit-address/reindex",
    {
      config: { access: { kind: "anybody", scope: "read" } },
      schema: {
        tags: ["transactions"],
        operationId: "reindexDepositAddress",
        summary: "Scan a deposit address now",
        description:
          "The service scans deposit addresses automatically on every chain that supports them: with each block for a day after they were issued or paid, periodically after that. This call scans at once, also for an unlisted token, and reconsiders held funds.",
        body: reindexAddressRequest,
        response: { 200: reindexAddressAnswer, ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503) },
      },
    },
    ({ body }) =>
      call(reindexAddress, {
        chainId: parseChainId(body.chainId),
        depositAddress: body.depositAddress,
        targetChainId:
          body.targetChainId === undefined ? undefined : parseChainId(body.targetChainId, "targetChainId"),
        currency: body.currency,
      }),
  );
}

import { withdrawalInitiatedRequest, withdrawalInitiatedAnswer } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { callerOf, sendAttested } from "./send-attested.ts";
import { attestationErrors, type RouteOptions, type TypedServer } from "./typed.ts";

export function withdrawalInitiatedRoute(
  app: TypedServer,
  services: Pick<RouteServices, "confirmWithdrawal">,
  options: RouteOptions,
): void {
  app.post(
    "/attestations/withdrawal-initiated/v1",
    {
      schema: {
        tags: ["attestations"],
        operationId: "attestWithdrawalInitiated",
        summary: "Attest that the balance of a withdrawal is reserved",
        body: withdrawalInitiatedRequest,
        response: { 200: withdrawalInitiatedAnswer, ...attestationErrors },
      },
    },
    async (request, reply) =>
      sendAttested(
        reply,
        await services.confirmWithdrawal(request.body, callerOf(request, reply, options)),
        options,
      ),
  );
}

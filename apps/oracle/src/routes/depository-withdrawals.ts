import { withdrawalAttestationRequest, withdrawalAttestationAnswer } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { callerOf, sendAttested } from "./send-attested.ts";
import { attestationErrors, type RouteOptions, type TypedServer } from "./typed.ts";

export function depositoryWithdrawalsRoute(
  app: TypedServer,
  services: Pick<RouteServices, "attestWithdrawal">,
  options: RouteOptions,
): void {
  app.post(
    "/attestations/depository-withdrawals/v1",
    {
      schema: {
        tags: ["attestations"],
        operationId: "attestDepositoryWithdrawals",
        summary: "Attest whether a withdrawal from a depository was executed, or can no longer be executed",
        body: withdrawalAttestationRequest,
        response: { 200: withdrawalAttestationAnswer, ...attestationErrors },
      },
    },
    async (request, reply) =>
      sendAttested(
        reply,
        await services.attestWithdrawal(request.body, callerOf(request, reply, options)),
        options,
      ),
  );
}

import { withdrawalInitiationRequest, withdrawalInitiationAnswer } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { callerOf, sendAttested } from "./send-attested.ts";
import { attestationErrors, type RouteOptions, type TypedServer } from "./typed.ts";

export function withdrawalInitiationRoute(
  app: TypedServer,
  services: Pick<RouteServices, "initiateWithdrawal">,
  options: RouteOptions,
): void {
  app.post(
    "/attestations/withdrawal-initiation/v1",
    {
      schema: {
        tags: ["attestations"],
        operationId: "initiateWithdrawal",
        summary: "Reserve an owner's hub balance for one withdrawal",
        body: withdrawalInitiationRequest,
        response: { 200: withdrawalInitiationAnswer, ...attestationErrors },
      },
    },
    async (request, reply) =>
      sendAttested(
        reply,
        await services.initiateWithdrawal(request.body, callerOf(request, reply, options)),
        options,
      ),
  );
}

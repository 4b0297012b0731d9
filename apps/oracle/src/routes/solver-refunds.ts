import { refundAttestationRequest, refundAttestationAnswer } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { callerOf, sendAttested } from "./send-attested.ts";
import { attestationErrors, type RouteOptions, type TypedServer } from "./typed.ts";

export function solverRefundsRoute(
  app: TypedServer,
  services: Pick<RouteServices, "attestRefund">,
  options: RouteOptions,
): void {
  app.post(
    "/attestations/solver-refunds/v1",
    {
      schema: {
        tags: ["attestations"],
        operationId: "attestSolverRefunds",
        summary: "Attest that a solver refunded an order's deposits",
        body: refundAttestationRequest,
        response: { 200: refundAttestationAnswer, ...attestationErrors },
      },
    },
    async (request, reply) =>
      sendAttested(
        reply,
        await services.attestRefund(request.body, callerOf(request, reply, options)),
        options,
      ),
  );
}

import { fillAttestationRequest, fillAttestationAnswer } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { callerOf, sendAttested } from "./send-attested.ts";
import { attestationErrors, type RouteOptions, type TypedServer } from "./typed.ts";

export function solverFillsRoute(
  app: TypedServer,
  services: Pick<RouteServices, "attestFill">,
  options: RouteOptions,
): void {
  app.post(
    "/attestations/solver-fills/v1",
    {
      schema: {
        tags: ["attestations"],
        operationId: "attestSolverFills",
        summary: "Attest that a solver filled an order",
        body: fillAttestationRequest,
        response: { 200: fillAttestationAnswer, ...attestationErrors },
      },
    },
    async (request, reply) =>
      sendAttested(
        reply,
        await services.attestFill(request.body, callerOf(request, reply, options)),
        options,
      ),
  );
}

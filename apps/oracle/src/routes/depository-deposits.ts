import { depositAttestationRequest, depositAttestationAnswer } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { callerOf, sendAttested } from "./send-attested.ts";
import { attestationErrors, type RouteOptions, type TypedServer } from "./typed.ts";

export function depositoryDepositsRoute(
  app: TypedServer,
  services: Pick<RouteServices, "attestDeposit">,
  options: RouteOptions,
): void {
  app.post(
    "/attestations/depository-deposits/v1",
    {
      schema: {
        tags: ["attestations"],
        operationId: "attestDepositoryDeposits",
        summary: "Attest a transaction's deposits into a depository",
        body: depositAttestationRequest,
        response: { 200: depositAttestationAnswer, ...attestationErrors },
      },
    },
    async (request, reply) =>
      sendAttested(
        reply,
        await services.attestDeposit(request.body, callerOf(request, reply, options)),
        options,
      ),
  );
}

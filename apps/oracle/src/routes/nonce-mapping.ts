import { nonceMappingAnswer, nonceMappingRequest } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { callerOf, sendAttested } from "./send-attested.ts";
import { attestationErrors, type RouteOptions, type TypedServer } from "./typed.ts";

export function nonceMappingRoute(
  app: TypedServer,
  services: Pick<RouteServices, "signNonceMapping">,
  options: RouteOptions,
): void {
  app.post(
    "/attestations/signatures/nonce-mapping/v2",
    {
      schema: {
        tags: ["attestations"],
        operationId: "signNonceMapping",
        summary: "Attest which order a wallet's nonce belongs to, from the wallet's signature",
        body: nonceMappingRequest,
        response: { 200: nonceMappingAnswer, ...attestationErrors },
      },
    },
    async (request, reply) =>
      sendAttested(
        reply,
        await services.signNonceMapping(request.body, callerOf(request, reply, options)),
        options,
      ),
  );
}

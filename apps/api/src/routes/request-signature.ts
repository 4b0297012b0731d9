import { ServiceError } from "@causeway/domain";
import { requestSignatureAnswer, requestSignatureParams, unknownRequest } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { errors, type TypedServer } from "./typed.ts";
import { hash } from "./wire-values.ts";

/** `GET /requests/{requestId}/signature`: the solver's word for what was agreed, for contracts to verify. */
export function requestSignatureRoute(
  app: TypedServer,
  services: Pick<RouteServices, "requestSignature">,
): void {
  app.get(
    "/requests/:requestId/signature",
    {
      schema: {
        tags: ["status"],
        operationId: "getRequestSignature",
        summary: "The solver's signature of a request",
        description:
          "Signs the agreement of the quote, which never changes: the same answer before and after the deposit and the fill. It does not say that a deposit was made.",
        params: requestSignatureParams,
        response: {
          200: requestSignatureAnswer,
          404: unknownRequest,
          ...errors(400, 401, 403, 429, 500, 503),
        },
      },
    },
    async ({ params }) => {
      const requestId = hash(params.requestId);
      const signed = await services.requestSignature(requestId);
      if (signed === undefined)
        throw new ServiceError("REQUEST_NOT_FOUND", "no request has this requestId", { requestId });
      return {
        requestData: {
          originChainId: signed.facts.originChainId,
          originUser: signed.words.originUser,
          originCurrency: signed.words.originCurrency,
          originAmount: signed.facts.originAmount.toString(),
          destinationChainId: signed.facts.destinationChainId,
          destinationUser: signed.words.destinationUser,
        },
        signature: signed.signature,
      };
    },
  );
}

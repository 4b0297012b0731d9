import type { RequestId } from "@causeway/domain";
import {
  requestSignatureAnswer,
  requestSignatureParams,
  requestSignatureV2Answer,
  unknownRequest,
} from "@causeway/wire";
import type { createRequestSignature, SignedRequest } from "./request-signature.ts";
import type { AttestationLayout } from "./signing/order-signer.port.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseHash } from "../http/wire-values.ts";
import { requestNotFound } from "../http/refusals.ts";

const sharedSchema = {
  tags: ["status"],
  params: requestSignatureParams,
  description:
    "Signs the terms of the quote, which never change: the response is the same before and after deposit and fill. It does not prove that a deposit was made.",
};
const refusals = { 404: unknownRequest, ...errors(400, 401, 403, 429, 500, 503) };

interface SignatureRouteNeeds {
  readonly requestSignature: ReturnType<typeof createRequestSignature>;
}

/**
 * `GET /requests/{requestId}/signature` and `…/signature/v2`: the solver's signature of the terms, for
 * contracts to verify.
 */
export function requestSignatureRoutes(app: TypedServer, { requestSignature }: SignatureRouteNeeds): void {
  const signOrThrow = async (requestId: RequestId, layout: AttestationLayout): Promise<SignedRequest> => {
    const signedRequest = await requestSignature(requestId, layout);
    if (signedRequest === undefined) throw requestNotFound(requestId);
    return signedRequest;
  };
  app.get(
    "/requests/:requestId/signature",
    {
      schema: {
        ...sharedSchema,
        operationId: "getRequestSignature",
        summary: "Get the solver's signature of a request; it covers the amount",
        response: { 200: requestSignatureAnswer, ...refusals },
      },
    },
    async ({ params }) => {
      const { facts, formatted, signature } = await signOrThrow(parseHash(params.requestId), "v1");
      return {
        requestData: {
          originChainId: facts.originChainId,
          originUser: formatted.originUser,
          originCurrency: formatted.originCurrency,
          originAmount: facts.originAmount.toString(),
          destinationChainId: facts.destinationChainId,
          destinationUser: formatted.destinationUser,
        },
        signature,
      };
    },
  );
  app.get(
    "/requests/:requestId/signature/v2",
    {
      schema: {
        ...sharedSchema,
        operationId: "getRequestSignatureV2",
        summary: "Get the solver's signature of a request; it covers the recipient's currency",
        response: { 200: requestSignatureV2Answer, ...refusals },
      },
    },
    async ({ params }) => {
      const { facts, formatted, signature } = await signOrThrow(parseHash(params.requestId), "v2");
      return {
        requestData: {
          originChainId: facts.originChainId,
          originUser: formatted.originUser,
          originCurrency: formatted.originCurrency,
          destinationChainId: facts.destinationChainId,
          destinationUser: formatted.destinationUser,
          destinationCurrency: formatted.destinationCurrency,
        },
        signature,
      };
    },
  );
}

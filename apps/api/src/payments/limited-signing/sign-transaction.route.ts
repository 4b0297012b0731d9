import type { Hex } from "@causeway/domain";
import { signTransactionAnswer, signTransactionBody } from "@causeway/wire";
import type { FastifyRequest } from "fastify";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import { signLimited, type LimitedSigning } from "./limited-signer.ts";

/**
 * `POST /v1/transactions` of a signer process with signing rules.
 * @param authorize throws unless the caller has the token
 */
export function signTransactionRoute(
  app: TypedServer,
  {
    signing,
    authorize,
  }: {
    readonly signing: LimitedSigning;
    readonly authorize: (request: FastifyRequest) => Promise<void>;
  },
): void {
  app.post(
    "/v1/transactions",
    {
      onRequest: authorize,
      schema: {
        tags: ["signing"],
        operationId: "signTransaction",
        summary: "Sign a transaction that the signing rules allow",
        body: signTransactionBody,
        response: { 200: signTransactionAnswer, ...errors(400, 401, 403, 500, 503) },
      },
    },
    async ({ body }) => ({ signature: await signLimited(signing, body.unsigned as Hex) }),
  );
}

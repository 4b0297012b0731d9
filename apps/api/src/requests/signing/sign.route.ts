import {
  orderFromJson,
  ServiceError,
  type Address,
  type Hex,
  type OrderJson,
  type RequestAttestationFacts,
} from "@causeway/domain";
import { bearerTokenCheck } from "@causeway/service-kit";
import { signOrderAnswer, signOrderBody, signRequestAnswer, signRequestBody } from "@causeway/wire";
import type { FastifyRequest } from "fastify";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import type { OrderSigner } from "./order-signer.port.ts";

export interface SignNeeds {
  readonly orderSigner: OrderSigner;
  readonly solver: Address;
  /** The token that callers must send. Undefined: the mode of the Unix socket restricts access. */
  readonly token: string | undefined;
}

const refusals = errors(400, 401, 500, 503);
const tags = ["signing"];

/**
 * `POST /v1/orders` and `POST /v1/requests` of the signer process. Both take fields, never a hash, and hash
 * them in a way that no payment of the solver uses.
 */
export function signRoutes(app: TypedServer, { orderSigner, solver, token }: SignNeeds): void {
  const onRequest = onlyWithToken(token);
  app.post(
    "/v1/orders",
    {
      onRequest,
      schema: {
        tags,
        operationId: "signOrder",
        summary: "Sign an order that names this solver",
        body: signOrderBody,
        response: { 200: signOrderAnswer, ...refusals },
      },
    },
    async ({ body }) => {
      if (body.order.version !== "v1")
        throw new ServiceError("INVALID_REQUEST", "version must be v1", { field: "version" });
      const order = orderFromJson(body.order as OrderJson);
      if (order.solver !== solver)
        throw new ServiceError("INVALID_REQUEST", `solver must be ${solver}, got ${order.solver}`, {
          field: "solver",
        });
      return await orderSigner.signOrder(order);
    },
  );
  app.post(
    "/v1/requests",
    {
      onRequest,
      schema: {
        tags,
        operationId: "signRequest",
        summary: "Sign the facts of a request",
        body: signRequestBody,
        response: { 200: signRequestAnswer, ...refusals },
      },
    },
    async ({ body: { layout, facts } }) => ({
      signature: await orderSigner.signRequest(layout, factsOf(facts)),
    }),
  );
}

/**
 * A hook of each route: comparing URL prefixes would miss some encodings of a URL.
 * @param token undefined: anyone who reaches the socket may call
 */
export function onlyWithToken(token: string | undefined): (request: FastifyRequest) => Promise<void> {
  const isAllowed = token === undefined ? () => true : bearerTokenCheck(token);
  return async (request) => {
    if (!isAllowed(request))
      throw new ServiceError("UNAUTHORIZED", "Send ORDER_SIGNER_TOKEN as Authorization: Bearer");
  };
}

function factsOf(
  facts: Readonly<Record<keyof RequestAttestationFacts, string | number>>,
): RequestAttestationFacts {
  const hex = (field: keyof RequestAttestationFacts): Hex => String(facts[field]).toLowerCase() as Hex;
  const originAmount = BigInt(facts.originAmount);
  if (originAmount >> 256n !== 0n)
    throw new ServiceError("INVALID_REQUEST", "originAmount must be a uint256", { field: "originAmount" });
  return {
    requestId: hex("requestId"),
    originChainId: Number(facts.originChainId),
    originUser: hex("originUser"),
    originCurrency: hex("originCurrency"),
    originAmount,
    destinationChainId: Number(facts.destinationChainId),
    destinationUser: hex("destinationUser"),
    destinationCurrency: hex("destinationCurrency"),
  };
}

import { parseAddress, ServiceError } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import { authorizeAnswer, authorizeQuery, authorizeRequest } from "@causeway/wire";
import type { AuthorizeAnswer } from "@causeway/wire";
import type { NonceAuthorization } from "../../chains/nonce-mappings.port.ts";
import type { RouteServices } from "../../http/route-services.port.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import { chainId, hash } from "../../http/wire-values.ts";

/** What clients mean that name no chain of the signature. */
const USUAL_SIGNATURE_CHAIN = 1;

/** `POST /authorize`: what a wallet says that the nonce of a transfer is for. */
export function authorizeRoute(app: TypedServer, services: Pick<RouteServices, "authorizeNonce">): void {
  app.post(
    "/authorize",
    {
      schema: {
        tags: ["execute"],
        operationId: "authorizeNonce",
        summary: "Post the signature of an authorize step",
        description:
          "A transfer on Hyperliquid carries only a nonce. Before the transfer, the wallet signs which quote the nonce belongs to. A transfer without such a signature " +
          "within an hour belongs to no quote and is returned. Posting the same signature again has no effect and returns the same response.",
        querystring: authorizeQuery,
        body: authorizeRequest,
        response: { 200: authorizeAnswer, ...errors(400, 409, 413, 415, 429, 500, 503) },
      },
    },
    ({ body, query }) =>
      accepted(services, {
        walletChainId: body.walletChainId,
        wallet: account(body.wallet, "wallet"),
        depositor: account(body.depositor, "depositor"),
        nonce: BigInt(body.nonce),
        id: hash(body.id),
        signatureChainId: signatureChain(body.signatureChainId ?? USUAL_SIGNATURE_CHAIN),
        signature: query.signature.toLowerCase() as Hex,
      }),
  );
}

async function accepted(
  services: Pick<RouteServices, "authorizeNonce">,
  said: NonceAuthorization,
): Promise<AuthorizeAnswer> {
  return { message: "Authorization accepted", requestId: await services.authorizeNonce(said) };
}

function account(text: string, field: string): Address {
  const address = parseAddress(text);
  if (address === undefined)
    throw new ServiceError("INVALID_REQUEST", `${field} must be a 20-byte address`, { field });
  return address;
}

function signatureChain(value: number | string): number {
  const field = "signatureChainId";
  const id = chainId(value, field);
  if (id === 0) throw new ServiceError("INVALID_REQUEST", `${field} must be greater than 0`, { field });
  return id;
}

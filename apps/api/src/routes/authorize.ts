import { parseAddress, ServiceError } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import { authorizeAnswer, authorizeQuery, authorizeRequest } from "@causeway/wire";
import type { RouteServices } from "../ports/route-services.ts";
import { errors, type TypedServer } from "./typed.ts";
import { chainId, hash } from "./wire-values.ts";

/** What clients mean that name no chain of the signature. */
const USUAL_SIGNATURE_CHAIN = 1;

/** `POST /authorize`: what a wallet says that the nonce of a transfer is for. */
export function authorizeRoute(app: TypedServer, services: Pick<RouteServices, "authorizeNonce">): void {
  app.post(
    "/authorize",
    {
      schema: {
        tags: ["execute"],
        summary: "Post the signature of an authorize step",
        description:
          "Transfers on the perpetuals exchange carry nothing but a nonce. Before the transfer its wallet says by signature which quote the nonce is for; a transfer of which that is not said " +
          "within an hour is for no quote, and goes back. The same signature may be posted again: it changes nothing, and is answered alike.",
        querystring: authorizeQuery,
        body: authorizeRequest,
        response: { 200: authorizeAnswer, ...errors(400, 409, 413, 415, 429, 500, 503) },
      },
    },
    async (request) => {
      const { walletChainId, wallet, depositor, nonce, id, signatureChainId } = request.body;
      const requestId = await services.authorizeNonce({
        walletChainId,
        wallet: account(wallet, "wallet"),
        depositor: account(depositor, "depositor"),
        nonce: BigInt(nonce),
        id: hash(id),
        signatureChainId: signatureChain(signatureChainId ?? USUAL_SIGNATURE_CHAIN),
        signature: request.query.signature.toLowerCase() as Hex,
      });
      return { message: "Authorization accepted", requestId };
    },
  );
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
  if (id === 0) throw new ServiceError("INVALID_REQUEST", `${field} must be positive`, { field });
  return id;
}

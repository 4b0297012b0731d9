import { parseAddress, ServiceError } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import { authorizeAnswer, authorizeQuery, authorizeRequest } from "@causeway/wire";
import type { Calls } from "../../http/use-cases.port.ts";
import { authorizeNonce } from "./authorize-nonce.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import { parseChainId, parseHash } from "../../http/wire-values.ts";

/** The default for clients that do not name the chain of the signature. */
const DEFAULT_SIGNATURE_CHAIN = 1;

/** `POST /authorize`: a wallet states which order the nonce of a transfer is for. */
export function authorizeRoute(app: TypedServer, { call }: Calls<typeof authorizeNonce>): void {
  app.post(
    "/authorize",
    {
      schema: {
        tags: ["execute"],
        operationId: "authorizeNonce",
        summary: "Post the signature of an authorize step",
        description:
          "A transfer on Hyperliquid carries only a nonce. Before the transfer, the wallet signs which quote the nonce belongs to. If no such signature is posted within an hour " +
          "of the transfer, the transfer belongs to no quote and is returned. Posting the same signature again has no effect and returns the same response.",
        querystring: authorizeQuery,
        body: authorizeRequest,
        response: { 200: authorizeAnswer, ...errors(400, 409, 413, 415, 429, 500, 503) },
      },
    },
    async ({ body, query }) => {
      const requestId = await call(authorizeNonce, {
        walletChainId: body.walletChainId,
        wallet: readAddress(body.wallet, "wallet"),
        depositor: readAddress(body.depositor, "depositor"),
        nonce: BigInt(body.nonce),
        id: parseHash(body.id),
        signatureChainId: readSignatureChainId(body.signatureChainId ?? DEFAULT_SIGNATURE_CHAIN),
        signature: query.signature.toLowerCase() as Hex,
      });
      return { message: "Authorization accepted", requestId };
    },
  );
}

function readAddress(text: string, field: string): Address {
  const address = parseAddress(text);
  if (address === undefined)
    throw new ServiceError("INVALID_REQUEST", `${field} must be a 20-byte address`, { field });
  return address;
}

function readSignatureChainId(value: number | string): number {
  const field = "signatureChainId";
  const id = parseChainId(value, field);
  if (id === 0) throw new ServiceError("INVALID_REQUEST", `${field} must be greater than 0`, { field });
  return id;
}

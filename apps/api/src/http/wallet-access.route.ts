import { ServiceError, parseAddress } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { FastifyRequest } from "fastify";
import { requireKey } from "./access.route.ts";
import { invalidAddress } from "./refusals.ts";

/** @throws ServiceError INVALID_ADDRESS */
export function walletOf(text: string): Address {
  return evmAddress(text, "wallet");
}

/** An address of the home chain. @throws ServiceError INVALID_ADDRESS */
export function evmAddress(text: string, field: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw invalidAddress(field);
  return parsed;
}

/**
 * The wallet in the path. Requires that it funds the key of the request.
 *
 * @throws ServiceError INVALID_ADDRESS, UNAUTHORIZED, FORBIDDEN
 */
export function ownWallet(request: Pick<FastifyRequest, "apiKey">, text: string): Address {
  const { fundingAddress } = requireKey(request, "read");
  const wallet = walletOf(text);
  if (fundingAddress !== wallet)
    throw new ServiceError("FORBIDDEN", "wallet is not the funding address of this API key", {
      field: "wallet",
    });
  return wallet;
}

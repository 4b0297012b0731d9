import { ServiceError, parseAddress } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { FastifyRequest } from "fastify";
import { requireKey } from "./access.ts";

/** @throws ServiceError INVALID_ADDRESS */
export function walletOf(text: string): Address {
  return evmAddress(text, "wallet");
}

/** An address of the home chain. @throws ServiceError INVALID_ADDRESS */
export function evmAddress(text: string, field: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined)
    throw new ServiceError("INVALID_ADDRESS", `${field} must be 0x followed by 40 hex digits`, { field });
  return parsed;
}

/** The wallet of the path, when the request came with a key that it funds. @throws ServiceError INVALID_ADDRESS, UNAUTHORIZED, FORBIDDEN */
export function ownWallet(request: Pick<FastifyRequest, "apiKey">, text: string): Address {
  const { fundingAddress } = requireKey(request, "read");
  const wallet = walletOf(text);
  if (fundingAddress !== wallet)
    throw new ServiceError("FORBIDDEN", "the API key is not funded by this wallet", { field: "wallet" });
  return wallet;
}

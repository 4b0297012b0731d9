import { type Hex32, parseHex32, ServiceError } from "@causeway/domain";
import { wholeNumber } from "@causeway/wire";

/** Converts a hash that a schema has validated to lower case, which the service uses internally. */
export function parseHash(text: string): Hex32 {
  const parsed = parseHex32(text);
  if (parsed === undefined)
    throw new ServiceError("INVALID_REQUEST", "requestId must be 0x followed by 64 hex digits");
  return parsed;
}

/** Converts a chain id that a schema has validated to a number. */
export function parseChainId(value: number | string, field = "chainId"): number {
  const id = wholeNumber(value);
  if (id === undefined) {
    throw new ServiceError("INVALID_REQUEST", `${field} must be a whole number`, { field });
  }
  return id;
}

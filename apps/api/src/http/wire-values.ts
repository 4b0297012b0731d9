import { type Hex32, parseHex32, ServiceError } from "@causeway/domain";
import { wholeNumber } from "@causeway/wire";

/** The hash that a schema has already found well formed, in the case used inside. */
export function hash(text: string): Hex32 {
  const parsed = parseHex32(text);
  if (parsed === undefined)
    throw new ServiceError("INVALID_REQUEST", "requestId must be 0x followed by 64 hex digits");
  return parsed;
}

/** The chain id that a schema has already found to be a whole number. */
export function chainId(value: number | string, field = "chainId"): number {
  const id = wholeNumber(value);
  if (id === undefined) {
    throw new ServiceError("INVALID_REQUEST", `${field} must be a whole number`, { field });
  }
  return id;
}

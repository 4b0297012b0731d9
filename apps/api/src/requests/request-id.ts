import type { RequestId } from "@causeway/domain";
import type { Random } from "../db/random.port.ts";

/**
 * The id of a new request: 32 random bytes, not a hash. Equal quotes have different ids, and no one can
 * derive an id from the request. (The id of the order is a hash: `orderIdOf`.)
 */
export function newRequestId(random: Random): RequestId {
  return random.bytes32();
}

import type { RequestId } from "@causeway/domain";
import type { Random } from "../db/random.port.ts";

/**
 * The id of a new request: 32 random bytes, not a hash. Two equal quotes have two ids, and no one can derive
 * an id from the request. The id that is a hash is the order's (`orderIdOf`).
 */
export function newRequestId(random: Random): RequestId {
  return random.bytes32();
}

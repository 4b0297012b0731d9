import { writeApiKey } from "@causeway/domain";
import { hash, randomBytes } from "node:crypto";

/** SHA-256 of a secret: 256 random bits need no slow hash. */
export const secretHashOf = (secret: string): Buffer => hash("sha256", secret, "buffer");

/** A new secret for a key; for a new key if `id` is absent. */
export function newSecret(id: string = randomBytes(8).toString("hex")): {
  readonly id: string;
  readonly key: string;
  readonly secretHash: Buffer;
} {
  const secret = randomBytes(32).toString("base64url");
  return { id, key: writeApiKey({ id, secret }), secretHash: secretHashOf(secret) };
}

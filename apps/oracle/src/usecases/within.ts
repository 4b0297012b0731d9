import { AttestationError } from "../ports/attestation-error.ts";

/** The value, if it comes within `ms`. @throws AttestationError upstream_unavailable when it does not: what is waited for is always a chain's node or a key service. */
export async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(new AttestationError("upstream_unavailable", "the chains took too long to answer; try again")),
      ms,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

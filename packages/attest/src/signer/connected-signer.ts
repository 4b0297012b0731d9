import type { Address, Hex32 } from "@causeway/domain";
import type { Preimage } from "./preimage.ts";
import type { Signature, Signer } from "./signer.ts";
import { SignerUnavailable } from "./signer-unavailable.ts";

/** A signer that connects when it first signs. */
export interface ConnectedSigner extends Signer {
  /**
   * Connects now.
   * @throws SignerUnavailable (retryable), or WrongKey
   */
  connect(): Promise<void>;
  close(): Promise<void>;
}

/** The key service's key belongs to an account other than the configured one. */
export class WrongKey extends Error {
  constructor(expected: Address, found: Address) {
    super(`the key service signs for ${found}, expected ${expected}`);
    this.name = "WrongKey";
  }
}

/** Maximum concurrent signatures; further calls wait without a timeout. */
const MAX_CONCURRENT = 16;

/**
 * A signer of `address` that connects when it first signs, and again after a failure: a process starts and
 * answers other requests while a key service is unavailable.
 */
export function connectedSigner(
  address: Address,
  open: () => Promise<Signer & { close?(): unknown }>,
): ConnectedSigner {
  let connecting: Promise<Signer & { close?(): unknown }> | undefined;
  const withPermit = createSemaphore(MAX_CONCURRENT);

  async function ensureConnected(): Promise<Signer & { close?(): unknown }> {
    connecting ??= open().then(async (signer) => {
      if (signer.address === address) return signer;
      await signer.close?.();
      throw new WrongKey(address, signer.address);
    });
    const attempt = connecting;
    try {
      return await attempt;
    } catch (error) {
      if (connecting === attempt) connecting = undefined;
      throw error;
    }
  }

  return {
    address,
    connect: async () => void (await ensureConnected()),
    async signDigest(digest: Hex32, preimage?: Preimage): Promise<Signature> {
      return await withPermit(async () => {
        const signer = await ensureConnected().catch((error: unknown) => {
          // Requests and payments treat a wrong key like an unavailable one.
          throw error instanceof SignerUnavailable ? error : new SignerUnavailable("unknown-key");
        });
        return await signer.signDigest(digest, preimage);
      });
    },
    async close() {
      await (await connecting?.catch(() => undefined))?.close?.();
    },
  };
}

/** Runs at most `limit` functions concurrently, in the order of their calls. */
function createSemaphore(limit: number): <T>(act: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (act) => {
    if (running < limit) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

import { readApiKey, ServiceError } from "@causeway/domain";
import { timingSafeEqual } from "node:crypto";
import type { ApiKeyIdentity, ApiKeys } from "../http/api-keys.port.ts";
import type { Clock } from "../db/clock.port.ts";
import { secretHashOf } from "./api-key-secret.adapter.ts";

/** A stored key: SHA-256 of its secret, and of the previous one while that is valid. */
export interface StoredKey {
  readonly identity: ApiKeyIdentity;
  readonly secretHash: Buffer;
  readonly previous: { readonly hash: Buffer; readonly untilMs: number } | undefined;
}

export interface KnownKeys extends ApiKeys {
  /** Drops a key from the cache because it changed. */
  forget(id: string): void;
  /** Any key may have changed. */
  forgetAll(): void;
}

/**
 * How long a cached key is valid; near the end it is refreshed in the background. A revocation whose
 * notification was lost takes effect after this time.
 */
const MAX_AGE_MS = 900;
const REFRESH_AFTER_MS = 450;
/** Existing keys and unknown ids have separate caches: made-up ids must not evict keys in use. */
const MAX_CACHED_KEYS = 10_000;
/** Maximum number of pending reads; more means an attack or an unavailable store. */
const MAX_PENDING_READS = 2_000;
const NO_HASH = Buffer.alloc(32);

interface CachedKey {
  readonly key: StoredKey | undefined;
  readonly readStartedAtMs: number;
}

interface PendingRead {
  readonly answer: Promise<StoredKey | undefined>;
  isOutdated: boolean;
}

/**
 * Caches keys in front of `read`; concurrent requests with one id share a read. The secret is compared in
 * constant time, even for an unknown id.
 */
export function knownKeys(
  read: (id: string) => Promise<StoredKey | undefined>,
  { clock }: { readonly clock: Clock },
): KnownKeys {
  const existing = new Map<string, CachedKey>();
  const missing = new Map<string, CachedKey>();
  const pendingReads = new Map<string, PendingRead>();

  const startRead = (id: string): Promise<StoredKey | undefined> => {
    const pendingRead = pendingReads.get(id);
    if (pendingRead !== undefined && !pendingRead.isOutdated) return pendingRead.answer;
    if (pendingReads.size >= MAX_PENDING_READS)
      return Promise.reject(new ServiceError("SERVICE_UNAVAILABLE", "API keys could not be read; try again"));
    // The age counts from the start of the read: a change during the read may be missing from the result.
    const readStartedAtMs = clock.nowMs();
    const pending: PendingRead = { isOutdated: false, answer: read(id) };
    pendingReads.set(id, pending);
    pending.answer.then(
      (key) => {
        if (!pending.isOutdated) cache(id, { key, readStartedAtMs });
        endRead(id, pending);
      },
      () => endRead(id, pending),
    );
    return pending.answer;
  };

  const endRead = (id: string, pending: PendingRead): void => {
    if (pendingReads.get(id) === pending) pendingReads.delete(id);
  };

  const cache = (id: string, cached: CachedKey): void => {
    existing.delete(id);
    missing.delete(id);
    const kind = cached.key === undefined ? missing : existing;
    kind.set(id, cached);
    // A map keeps insertion order: the oldest entry is evicted.
    const oldest = kind.size > MAX_CACHED_KEYS ? kind.keys().next().value : undefined;
    if (oldest !== undefined) kind.delete(oldest);
  };

  const lookUp = async (id: string): Promise<StoredKey | undefined> => {
    const cached = existing.get(id) ?? missing.get(id);
    const ageMs = cached === undefined ? Infinity : clock.nowMs() - cached.readStartedAtMs;
    if (cached !== undefined && ageMs >= 0 && ageMs < MAX_AGE_MS) {
      // The result serves later requests; a failure is reported to the first request that must wait.
      if (ageMs >= REFRESH_AFTER_MS) startRead(id).catch(() => {});
      return cached.key;
    }
    return await startRead(id);
  };

  return {
    async find(text) {
      const parsed = readApiKey(text);
      if (parsed === undefined) return undefined;
      let key: StoredKey | undefined;
      try {
        key = await lookUp(parsed.id);
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw new ServiceError("SERVICE_UNAVAILABLE", "API keys could not be read; try again", {
          cause: error,
        });
      }
      const secretHash = secretHashOf(parsed.secret);
      const isCurrent = timingSafeEqual(secretHash, key?.secretHash ?? NO_HASH);
      const isPrevious = timingSafeEqual(secretHash, key?.previous?.hash ?? NO_HASH);
      const isValidPrevious =
        isPrevious && key?.previous !== undefined && clock.nowMs() < key.previous.untilMs;
      return isCurrent || isValidPrevious ? key?.identity : undefined;
    },
    isKnown(text) {
      const id = readApiKey(text)?.id;
      return id !== undefined && existing.has(id);
    },
    forget(id) {
      existing.delete(id);
      missing.delete(id);
      const pending = pendingReads.get(id);
      if (pending !== undefined) pending.isOutdated = true;
    },
    forgetAll() {
      existing.clear();
      missing.clear();
      for (const pending of pendingReads.values()) pending.isOutdated = true;
    },
  };
}

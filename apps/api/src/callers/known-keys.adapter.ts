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
const KEPT_MS = 900;
const REFRESHED_AFTER_MS = 450;
/** Existing keys and unknown ids have separate caches: made-up ids must not evict keys in use. */
const MAX_KEPT = 10_000;
/** Maximum number of waiting reads; more means an attack or an unavailable store. */
const MAX_WAITING = 2_000;
const NO_HASH = Buffer.alloc(32);

interface Kept {
  readonly key: StoredKey | undefined;
  readonly readStartedAtMs: number;
}

interface Question {
  readonly answer: Promise<StoredKey | undefined>;
  outdated: boolean;
}

/**
 * Caches keys in front of `read`; concurrent requests with one id share a read. The secret is compared in
 * constant time, even for an unknown id.
 */
export function knownKeys(
  read: (id: string) => Promise<StoredKey | undefined>,
  { clock }: { readonly clock: Clock },
): KnownKeys {
  const existing = new Map<string, Kept>();
  const missing = new Map<string, Kept>();
  const questions = new Map<string, Question>();

  const ask = (id: string): Promise<StoredKey | undefined> => {
    const open = questions.get(id);
    if (open !== undefined && !open.outdated) return open.answer;
    if (questions.size >= MAX_WAITING)
      return Promise.reject(new ServiceError("SERVICE_UNAVAILABLE", "API keys could not be read; try again"));
    // The age counts from the start of the read: a change during the read may be missing from the result.
    const readStartedAtMs = clock.nowMs();
    const question: Question = { outdated: false, answer: read(id) };
    questions.set(id, question);
    question.answer.then(
      (key) => {
        if (!question.outdated) keep(id, { key, readStartedAtMs });
        close(id, question);
      },
      () => close(id, question),
    );
    return question.answer;
  };

  const close = (id: string, question: Question): void => {
    if (questions.get(id) === question) questions.delete(id);
  };

  const keep = (id: string, kept: Kept): void => {
    existing.delete(id);
    missing.delete(id);
    const kind = kept.key === undefined ? missing : existing;
    kind.set(id, kept);
    // A map keeps insertion order: the oldest entry is evicted.
    const oldest = kind.size > MAX_KEPT ? kind.keys().next().value : undefined;
    if (oldest !== undefined) kind.delete(oldest);
  };

  const stored = async (id: string): Promise<StoredKey | undefined> => {
    const kept = existing.get(id) ?? missing.get(id);
    const ageMs = kept === undefined ? Infinity : clock.nowMs() - kept.readStartedAtMs;
    if (kept !== undefined && ageMs >= 0 && ageMs < KEPT_MS) {
      // The result serves later requests; a failure is reported to the first request that must wait.
      if (ageMs >= REFRESHED_AFTER_MS) ask(id).catch(() => {});
      return kept.key;
    }
    return await ask(id);
  };

  return {
    async find(text) {
      const given = readApiKey(text);
      if (given === undefined) return undefined;
      let key: StoredKey | undefined;
      try {
        key = await stored(given.id);
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw new ServiceError("SERVICE_UNAVAILABLE", "API keys could not be read; try again", {
          cause: error,
        });
      }
      const secretHash = secretHashOf(given.secret);
      const isCurrent = timingSafeEqual(secretHash, key?.secretHash ?? NO_HASH);
      const isPrevious = timingSafeEqual(secretHash, key?.previous?.hash ?? NO_HASH);
      const isValidPrevious =
        isPrevious && key?.previous !== undefined && clock.nowMs() < key.previous.untilMs;
      return isCurrent || isValidPrevious ? key?.identity : undefined;
    },
    isFamiliar(text) {
      const id = readApiKey(text)?.id;
      return id !== undefined && existing.has(id);
    },
    forget(id) {
      existing.delete(id);
      missing.delete(id);
      const question = questions.get(id);
      if (question !== undefined) question.outdated = true;
    },
    forgetAll() {
      existing.clear();
      missing.clear();
      for (const question of questions.values()) question.outdated = true;
    },
  };
}

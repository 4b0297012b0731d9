import { readApiKey, ServiceError } from "@causeway/domain";
import { timingSafeEqual } from "node:crypto";
import type { ApiKeyIdentity, ApiKeys } from "../http/api-keys.port.ts";
import type { Clock } from "../db/clock.port.ts";
import { secretHashOf } from "./new-secret.adapter.ts";

/** A key as it is stored: SHA-256 of its secret, and of the one before for as long as that counts. */
export interface StoredKey {
  readonly identity: ApiKeyIdentity;
  readonly secretHash: Buffer;
  readonly previous: { readonly hash: Buffer; readonly untilMs: number } | undefined;
}

export interface KnownKeys extends ApiKeys {
  /** A key has changed: what is kept of it counts no more. */
  forget(id: string): void;
  /** Any key may have changed. */
  forgetAll(): void;
}

/**
 * What was read is used for so long; the last part of that time it is read anew beside the request that uses
 * it. A revocation that nobody announced counts after that at the latest.
 */
const KEPT_MS = 900;
const REFRESHED_AFTER_MS = 450;
/**
 * Keys that exist, and ids that nobody has, are kept apart: whoever makes up ids must not push out the keys
 * that are used.
 */
const MAX_KEPT = 10_000;
/** Questions that wait for the store at once; more is an attack or a store that is away. */
const MAX_WAITING = 2_000;
const NO_HASH = Buffer.alloc(32);

interface Kept {
  readonly key: StoredKey | undefined;
  readonly askedAtMs: number;
}

interface Question {
  readonly answer: Promise<StoredKey | undefined>;
  outdated: boolean;
}

/**
 * Keys in memory in front of `read`, which is asked once for any number of requests with the same id. The
 * secret is compared in constant time, for an id that does not exist as well.
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
    // The age counts from the question: what changes while it is answered may or may not be in the answer.
    const askedAtMs = clock.nowMs();
    const question: Question = { outdated: false, answer: read(id) };
    questions.set(id, question);
    question.answer.then(
      (key) => {
        if (!question.outdated) keep(id, { key, askedAtMs });
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
    // A map keeps the order in which entries came: the oldest goes first.
    const oldest = kind.size > MAX_KEPT ? kind.keys().next().value : undefined;
    if (oldest !== undefined) kind.delete(oldest);
  };

  const stored = async (id: string): Promise<StoredKey | undefined> => {
    const kept = existing.get(id) ?? missing.get(id);
    const ageMs = kept === undefined ? Infinity : clock.nowMs() - kept.askedAtMs;
    if (kept !== undefined && ageMs >= 0 && ageMs < KEPT_MS) {
      // What this finds out is the next request's; a fault is met by the first that must wait.
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
      const stillCounts = isPrevious && key?.previous !== undefined && clock.nowMs() < key.previous.untilMs;
      return isCurrent || stillCounts ? key?.identity : undefined;
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

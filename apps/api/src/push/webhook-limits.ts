import { ServiceError } from "@causeway/domain";

/** Maximum number of webhooks of one API key. */
export const MAX_WEBHOOKS_PER_KEY = 10;
/**
 * Maximum number of webhooks that one API key may create in 24 hours. A removed webhook leaves a row for two
 * weeks.
 */
export const MAX_CREATIONS_PER_DAY = 100;

export function tooManyWebhooks(): ServiceError {
  return new ServiceError(
    "INVALID_REQUEST",
    `An API key may have at most ${MAX_WEBHOOKS_PER_KEY} webhooks; remove one with DELETE /webhooks/{id}`,
  );
}

export function tooManyCreations(waitMs: number): ServiceError {
  return new ServiceError(
    "RATE_LIMITED",
    `An API key may create at most ${MAX_CREATIONS_PER_DAY} webhooks in 24 hours, including removed ones; to change a secret, use POST /webhooks/{id}/rotate`,
    { retryAfterSeconds: Math.ceil(waitMs / 1000) },
  );
}

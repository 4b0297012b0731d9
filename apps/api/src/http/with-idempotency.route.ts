import { ServiceError } from "@causeway/domain";
import { answerFor, sendJson } from "@causeway/service-kit";
import type { FastifyReply, FastifyRequest } from "fastify";
import { createHash } from "node:crypto";
import type { Idempotency, IdempotencyLease, StoredAnswer } from "./idempotency.port.ts";
import { LeaseLost } from "./idempotency.port.ts";
import { hasSecretKey } from "./access.route.ts";
import { isPublishable } from "./publishable-key.ts";

const KEY_FORMAT = /^[\x21-\x7e]{1,255}$/;
/** Statuses below 500 that do not depend on the call itself, so a later attempt may succeed. */
const TRANSIENT: ReadonlySet<number> = new Set([401, 409, 429]);

/** For the OpenAPI document. */
export const IDEMPOTENCY_DESCRIPTION =
  "With an `Idempotency-Key` header (1 to 255 visible ASCII characters) the call runs once. Repeating it within 24 hours returns the first response " +
  "with `Idempotency-Replayed: true`; 409 while it is in progress, 422 if the body differs.";

export interface IdempotencyServices {
  readonly idempotency: Idempotency;
  readonly clock: { nowMs(): number };
}

export interface IdempotencyOptions {
  /** How the route responds to an exception. Absent: as usual. */
  readonly errorAnswer?: (thrown: unknown) => StoredAnswer;
  /**
   * Whether to ignore the header of callers without a secret key. For calls that move no funds, so that fewer
   * responses are stored.
   */
  readonly needsSecretKey?: boolean;
}

/**
 * Runs a call once per `Idempotency-Key`: repeating it within 24 hours returns the first response with
 * `Idempotency-Replayed: true`. Without the header, the call just runs. A use case commits its effects
 * together with the response (`tx.idempotency.finish(lease, answer)`). If it commits nothing, the response is
 * stored here.
 * @throws ServiceError IDEMPOTENCY_IN_PROGRESS while the call runs, IDEMPOTENCY_KEY_REUSED for another body,
 * INVALID_REQUEST for a malformed header; errors of `run`.
 */
export async function withIdempotency(
  { idempotency, clock }: IdempotencyServices,
  request: FastifyRequest,
  reply: FastifyReply,
  run: (lease: IdempotencyLease | undefined) => Promise<StoredAnswer>,
  { errorAnswer = defaultErrorAnswer, needsSecretKey = false }: IdempotencyOptions = {},
): Promise<void> {
  const key = request.headers["idempotency-key"];
  if (key === undefined || (needsSecretKey && !hasSecretKey(request)))
    return send(reply, await run(undefined));
  if (typeof key !== "string" || !KEY_FORMAT.test(key))
    throw new ServiceError("INVALID_REQUEST", "Idempotency-Key must be 1 to 255 visible ASCII characters");

  const begun = await idempotency.begin(
    {
      scope: callerOf(request),
      endpoint: `${request.method} ${request.routeOptions.url ?? ""}`,
      key,
      bodyHash: hashOf({ params: request.params, query: request.query, body: request.body }),
    },
    clock.nowMs(),
  );
  if (begun.kind === "bodyMismatch")
    throw new ServiceError(
      "IDEMPOTENCY_KEY_REUSED",
      "Idempotency-Key was already used with a different body; use a new key",
    );
  if (begun.kind === "inProgress") throw callInProgress();
  if (begun.kind === "answered") {
    reply.header("idempotency-replayed", "true");
    return send(reply, begun.answer);
  }
  const { lease } = begun;
  let answer: StoredAnswer;
  try {
    answer = await run(lease);
  } catch (error) {
    if (error instanceof LeaseLost) throw callInProgress();
    await storeAnswer(idempotency, lease, errorAnswer(error));
    throw error;
  }
  await storeAnswer(idempotency, lease, answer);
  send(reply, answer);
}

/**
 * The owner of the idempotency keys, so that no caller gets another caller's response. Includes the address
 * for a publishable API key, because many people share it.
 */
function callerOf({ apiKey, ip }: FastifyRequest): string {
  if (apiKey === undefined) return `ip:${ip}`;
  return isPublishable(apiKey) ? `${apiKey.id}:ip:${ip}` : apiKey.id;
}

/** Does nothing if the response was already stored with the commit. */
async function storeAnswer(
  idempotency: Idempotency,
  lease: IdempotencyLease,
  answer: StoredAnswer,
): Promise<void> {
  if (answer.status >= 500 || TRANSIENT.has(answer.status)) return await idempotency.abandon(lease);
  try {
    await idempotency.finish(lease, answer);
  } catch (error) {
    // Stored with the commit, or taken over by another run: a repeated call gets the stored response.
    if (!(error instanceof LeaseLost)) throw error;
  }
}

function defaultErrorAnswer(thrown: unknown): StoredAnswer {
  const { status, body } = answerFor(thrown);
  return { status, body: JSON.stringify(body) };
}

function send(reply: FastifyReply, { status, body }: StoredAnswer): void {
  // The timeout may already have sent a response.
  if (!reply.sent) sendJson(reply.code(status), body);
}

const callInProgress = (): ServiceError =>
  new ServiceError("IDEMPOTENCY_IN_PROGRESS", "A call with this Idempotency-Key is in progress; retry later");

/** Hashes the parsed values in the order of the schema, so that neither format nor field order matters. */
function hashOf(call: object): string {
  return createHash("sha256").update(JSON.stringify(call)).digest("hex");
}

import { ServiceError } from "@causeway/domain";
import type { ErrorAnswer, CustomErrorAnswer } from "@causeway/service-kit";
import { oracleErrorStatus } from "@causeway/wire";
import type { OracleError, OracleErrorCode } from "@causeway/wire";
import { AttestationError } from "./ports/attestation-error.ts";
import { outcomeOf } from "./usecases/outcome.ts";

/** Public messages that replace those of internal errors. */
const PUBLIC_MESSAGES: Partial<Record<OracleErrorCode, string>> = {
  upstream_unavailable: "a chain node or the key service returned no usable response; try again",
  internal: "internal error",
};

const UPSTREAM_RETRY_SECONDS = 1;

/**
 * The oracle's error format: `{message, code, field?, retryAfter?}`. Errors of the framework keep their
 * status.
 */
export function oracleErrorAnswer(thrown: unknown, standard: ErrorAnswer): CustomErrorAnswer {
  if (thrown === undefined)
    return frameworkAnswer(standard, standard.status === 404 ? "not_found" : "invalid_request");
  const code = outcomeOf(thrown);
  if (thrown instanceof AttestationError) return attestationAnswer(thrown.code, thrown.message, thrown);
  if (code !== "internal")
    return attestationAnswer(code, thrown instanceof Error ? thrown.message : "", fieldOf(thrown));
  return standard.status < 500
    ? frameworkAnswer(standard, "invalid_request")
    : attestationAnswer("internal", "");
}

function attestationAnswer(
  code: OracleErrorCode,
  message: string,
  facts: { readonly field?: string | undefined; readonly retryAfterSeconds?: number | undefined } = {},
): CustomErrorAnswer {
  const retryAfter =
    facts.retryAfterSeconds ?? (code === "upstream_unavailable" ? UPSTREAM_RETRY_SECONDS : undefined);
  const body: OracleError = {
    message: PUBLIC_MESSAGES[code] ?? message,
    code,
    ...(facts.field === undefined ? {} : { field: facts.field }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(code === "unauthorized" ? { error: "Unauthorized" } : {}),
  };
  return {
    status: oracleErrorStatus[code],
    headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
    body,
    unexpected: code === "internal",
  };
}

function frameworkAnswer(
  { status, headers, body, unexpected }: ErrorAnswer,
  code: OracleErrorCode,
): CustomErrorAnswer {
  return {
    status,
    headers,
    unexpected,
    body: { message: body.message, code, error: body.error, statusCode: status },
  };
}

function fieldOf(thrown: unknown): { readonly field?: string | undefined } {
  return thrown instanceof ServiceError ? { field: thrown.facts.field } : {};
}

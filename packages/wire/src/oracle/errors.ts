import { z } from "zod";

/** Why an attestation failed; see {@link oracleErrorStatus} for the HTTP status of each. */
export const oracleErrorCode = z.enum([
  "invalid_request",
  "not_found",
  "not_final",
  "rejected",
  "unauthorized",
  "quorum_not_reached",
  "rate_limited",
  "overloaded",
  "upstream_unavailable",
  "internal",
]);

export const oracleErrorStatus: Readonly<Record<OracleErrorCode, number>> = {
  invalid_request: 400,
  not_found: 400,
  not_final: 400,
  rejected: 400,
  unauthorized: 401,
  quorum_not_reached: 409,
  rate_limited: 429,
  overloaded: 503,
  upstream_unavailable: 503,
  internal: 500,
};

/** Body of every error of the oracle. */
export const oracleError = z
  .object({
    message: z.string().describe("Description of the error for the caller."),
    code: oracleErrorCode.describe("Machine-readable reason."),
    field: z.string().optional().describe("Invalid field of the request."),
    retryAfter: z.int().positive().optional().describe("Seconds to wait before retrying."),
    error: z.string().optional().describe("HTTP status text, if `code` does not imply it."),
    statusCode: z.int().optional().describe("HTTP status code, if `code` does not imply it."),
  })
  .meta({ id: "OracleError" });

export type OracleErrorCode = z.infer<typeof oracleErrorCode>;
export type OracleError = z.infer<typeof oracleError>;

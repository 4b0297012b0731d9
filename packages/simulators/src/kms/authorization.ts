import type { IncomingHttpHeaders } from "node:http";
import { KmsError } from "./kms-error.ts";

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([\w.-]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
const SIGNED = ["host", "x-amz-date"] as const;

/**
 * Checks what can be checked of a request's Signature Version 4 without the caller's secret: that it is
 * present, complete, current and for this service and region. The signature itself is not verified, because
 * everyone who reaches a local service may use it.
 *
 * @throws KmsError with the real service's message
 */
export function checkAuthorization(headers: IncomingHttpHeaders, region: string, nowMs: number): void {
  const { authorization } = headers;
  if (authorization === undefined || authorization === "")
    throw new KmsError("MissingAuthenticationTokenException", "Missing Authentication Token");
  const match = AUTHORIZATION.exec(authorization);
  if (match === null)
    throw new KmsError(
      "IncompleteSignatureException",
      "Authorization header is not a complete AWS4-HMAC-SHA256 one.",
    );
  const [, , day, inRegion, service, signedHeaders = ""] = match;
  const date = headers["x-amz-date"];
  if (typeof date !== "string" || !/^\d{8}T\d{6}Z$/.test(date) || date.slice(0, 8) !== day)
    throw new KmsError("IncompleteSignatureException", "Date in Credential scope does not match X-Amz-Date.");
  const signed = signedHeaders.split(";");
  if (SIGNED.some((name) => !signed.includes(name)))
    throw new KmsError("InvalidSignatureException", `SignedHeaders must name ${SIGNED.join(" and ")}.`);
  if (service !== "kms" || inRegion !== region)
    throw new KmsError(
      "InvalidSignatureException",
      `Credential should be scoped to service 'kms' and region '${region}'.`,
    );
  if (Math.abs(nowMs - timeOf(date)) > 5 * 60_000)
    throw new KmsError(
      "InvalidSignatureException",
      "Signature expired or not yet current: more than 5 minutes from now.",
    );
}

/** `20261121T134500Z` as milliseconds since 1970. */
function timeOf(date: string): number {
  return Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

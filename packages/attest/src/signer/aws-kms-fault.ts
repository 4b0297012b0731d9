import type { SignerFault } from "./signer-unavailable.ts";

/**
 * Names of what AWS KMS and its SDK throw, by what they mean for a signer. Every other one is `unreachable`.
 */
const faults: Readonly<Record<string, SignerFault>> = {
  AbortError: "timeout",
  TimeoutError: "timeout",
  ThrottlingException: "throttled",
  LimitExceededException: "throttled",
  AccessDeniedException: "refused",
  CredentialsProviderError: "no-credentials",
  ExpiredTokenException: "refused",
  IncompleteSignatureException: "refused",
  InvalidClientTokenId: "refused",
  InvalidSignatureException: "refused",
  MissingAuthenticationTokenException: "refused",
  UnrecognizedClientException: "refused",
  DisabledException: "disabled",
  InvalidKeyUsageException: "disabled",
  KeyUnavailableException: "disabled",
  KMSInvalidStateException: "disabled",
  NotFoundException: "unknown-key",
  InvalidArnException: "unknown-key",
  // An answer that is no JSON.
  SyntaxError: "bad-answer",
};

/** What the SDK calls a TimeoutError too, though nobody waited. */
const cutConnection: readonly unknown[] = ["ECONNRESET", "EPIPE"];

/** Why a call failed, without the words of who failed it. */
export function kmsFault(error: unknown): SignerFault {
  if (!(error instanceof Error)) return "unreachable";
  if ("code" in error && cutConnection.includes(error.code)) return "unreachable";
  return (Object.hasOwn(faults, error.name) ? faults[error.name] : undefined) ?? "unreachable";
}

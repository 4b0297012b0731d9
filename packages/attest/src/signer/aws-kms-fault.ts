import type { SignerFault } from "./signer-unavailable.ts";

/** Error names of AWS KMS and its SDK, by their meaning for a signer. Any other one is `unreachable`. */
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
  // The answer is not JSON.
  SyntaxError: "bad-answer",
};

/** The SDK reports a broken connection as TimeoutError too, although nothing timed out. */
const brokenConnection: readonly unknown[] = ["ECONNRESET", "EPIPE"];

/** Why a call failed, without the message of the error. */
export function kmsFault(error: unknown): SignerFault {
  if (!(error instanceof Error)) return "unreachable";
  if ("code" in error && brokenConnection.includes(error.code)) return "unreachable";
  return (Object.hasOwn(faults, error.name) ? faults[error.name] : undefined) ?? "unreachable";
}

import { createLogger, withoutUrlSecrets } from "@causeway/service-kit";
import type { Logger, LogOptions } from "@causeway/service-kit";

const MAX_CAUSE_DEPTH = 6;

/**
 * A logger that writes neither stacks nor configured secrets. URLs of RPC providers contain keys, and
 * libraries quote their arguments, so every error text is searched for secrets.
 */
export function createOracleLog(options: LogOptions, secrets: readonly string[]): Logger {
  const facts = redactedErrorFacts(secrets);
  return createLogger(options).child({}, { serializers: { err: facts, error: facts } });
}

/** Formats an error for the log: type, codes and messages of it and its causes. */
export function redactedErrorFacts(secrets: readonly string[]): (error: unknown) => unknown {
  // Longest first: one secret may contain another.
  const sortedSecrets = secrets.filter((secret) => secret.length > 3).toSorted((a, b) => b.length - a.length);
  return (error) => describe(error, sortedSecrets, 0);
}

function describe(error: unknown, secrets: readonly string[], depth: number): unknown {
  if (!(error instanceof Error))
    return typeof error === "string" ? withoutSecrets(error, secrets) : undefined;
  const { code, kind, method, field } = error as unknown as Record<string, unknown>;
  return {
    type: error.name,
    ...Object.fromEntries(
      Object.entries({ code, kind, method, field }).filter(([, value]) => typeof value === "string"),
    ),
    message: withoutSecrets(error.message, secrets),
    ...(error.cause === undefined || depth >= MAX_CAUSE_DEPTH
      ? {}
      : { cause: describe(error.cause, secrets, depth + 1) }),
  };
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return withoutUrlSecrets(
    secrets.reduce((redacted, secret) => redacted.replaceAll(secret, "[secret]"), text),
  );
}

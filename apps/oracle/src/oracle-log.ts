import { createLogger, withoutUrlSecrets } from "@causeway/service-kit";
import type { Logger } from "@causeway/service-kit";

const DEEPEST_CAUSE = 6;

/**
 * A log that shows neither stacks nor anything of the configured secrets. Keys of RPC providers stand in paths, and libraries quote what they were given:
 * every error text is searched for the secrets themselves.
 */
export function createOracleLog(
  options: { readonly name: string; readonly level: string },
  secrets: readonly string[],
): Logger {
  const known = secrets.filter((secret) => secret.length > 3).toSorted((a, b) => b.length - a.length);
  const facts = (error: unknown): unknown => describe(error, known, 0);
  return createLogger(options).child({}, { serializers: { err: facts, error: facts } });
}

/** Type, codes and words of an error and its causes. */
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
    ...(error.cause === undefined || depth >= DEEPEST_CAUSE
      ? {}
      : { cause: describe(error.cause, secrets, depth + 1) }),
  };
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return withoutUrlSecrets(secrets.reduce((left, secret) => left.replaceAll(secret, "[secret]"), text));
}

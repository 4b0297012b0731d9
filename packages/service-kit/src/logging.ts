import { type Logger, pino, stdTimeFunctions } from "pino";
import { prettyLines } from "./pretty-lines.ts";

export type { Logger } from "pino";

/** Names whose values never reach a log line, at any level. */
const secretNames = [
  "authorization",
  "x-api-key",
  "apiKey",
  "privateKey",
  "rpcUrl",
  "wsRpcUrl",
  "password",
  "connectionString",
  "databaseUrl",
  "redisUrl",
];
const secretField = new RegExp(`"(?:${secretNames.join("|")})":`);

/** Maximum depth of logged causes. */
const MAX_CAUSE_DEPTH = 6;

export interface LogOptions {
  readonly name: string;
  readonly level: string;
  /** Default: json. */
  readonly format?: "json" | "pretty";
}

/**
 * Writes one JSON line per event to stdout (or `destination`), or a human-readable one, without secrets and
 * credentials in URLs.
 */
export function createLogger(
  options: LogOptions,
  destination = options.format === "pretty" ? prettyLines(process.stdout, process.stdout.isTTY) : undefined,
): Logger {
  const settings = {
    timestamp: stdTimeFunctions.isoTime,
    name: options.name,
    level: options.level,
    hooks: { streamWrite: withoutSecretFields },
    // With the default error key, pino copies the error's message, including URLs, to the top level. This key
    // is never used.
    errorKey: "thrown",
    serializers: { err: errorFacts, error: errorFacts, thrown: errorFacts },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}

/** Almost no line has a secret: searching its text is far cheaper than checking each value. */
function withoutSecretFields(line: string): string {
  if (!secretField.test(line)) return line;
  const isSecret = (name: string): boolean => secretNames.includes(name);
  const facts: unknown = JSON.parse(line, (name, value: unknown) => (isSecret(name) ? "[secret]" : value));
  return `${JSON.stringify(facts)}\n`;
}

/**
 * Shortens every URL in `text` to scheme and host: keys of RPC providers may be in user, path and query. Code
 * locations stay.
 */
export function withoutUrlSecrets(text: string): string {
  return text.replace(URL_PATTERN, (url, scheme: string, rest: string) => {
    // Keep stack trace lines: they show where the failure happened.
    if (CODE_SCHEMES.has(scheme.toLowerCase())) return url;
    const [authority = ""] = rest.split(/[/?#]/, 1);
    const host = authority.slice(authority.lastIndexOf("@") + 1);
    const isShortened = host.length < rest.replace(/\/$/, "").length;
    return `${scheme}://${host}${isShortened ? "/[secret]" : ""}`;
  });
}

const CODE_SCHEMES = new Set(["file", "node"]);
const URL_PATTERN = /\b([a-z][a-z0-9+.-]*):\/\/([^\s"'`<>()\\]+)/gi;

/**
 * Formats an error for the log: type, code, message, stack, the facts of a service error and the chain of
 * causes. Omits other properties on purpose: client libraries attach whole requests, with their URLs and
 * headers, to their errors.
 */
export function errorFacts(error: unknown): unknown {
  return describe(error, 0);
}

function describe(error: unknown, depth: number): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? withoutUrlSecrets(error) : error;
  const { code, facts } = error as { code?: unknown; facts?: Record<string, unknown> };
  return {
    type: error.name,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    message: withoutUrlSecrets(error.message),
    ...(facts === undefined
      ? {}
      : { field: facts["field"], requestId: facts["requestId"], data: facts["data"] }),
    ...(error.stack === undefined ? {} : { stack: withoutUrlSecrets(error.stack) }),
    ...(error.cause === undefined || depth >= MAX_CAUSE_DEPTH
      ? {}
      : { cause: describe(error.cause, depth + 1) }),
  };
}

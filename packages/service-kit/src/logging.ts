import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  pino,
  stdTimeFunctions,
} from "pino";
import { prettyLines } from "./pretty-lines.ts";

export type { Logger } from "pino";

/** Names whose values never reach a log line, at the top level or up to two levels down. */
const secretNames: ReadonlySet<string> = new Set([
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
]);
const LEVELS_DOWN = 2;
const CENSORED = "[secret]";

/** If one turn of the event loop logs more bytes than this, they are written before the turn ends. */
const MAX_BUFFERED = 8 * 1024;

/** Bytes of log lines that are kept while stdout cannot be written; further lines are dropped. */
const MAX_UNWRITTEN = 1024 * 1024;

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
  destination = options.format === "pretty"
    ? prettyLines(process.stdout, process.stdout.isTTY)
    : stdoutByTurn(),
): Logger {
  const settings = {
    timestamp: stdTimeFunctions.isoTime,
    name: options.name,
    level: options.level,
    // Pino's own redaction copies every object of every line.
    formatters: { log: withoutSecrets },
    // With the default error key, pino copies the error's message, including URLs, to the top level. This key
    // is never used.
    errorKey: "thrown",
    serializers: { err: errorFacts, error: errorFacts, thrown: errorFacts },
  };
  const log: Logger = pino(settings, destination);
  // Bindings have a formatter of their own, which children do not inherit.
  const { child } = log;
  return Object.assign(log, {
    child(this: Logger, bindings: Bindings, childOptions?: ChildLoggerOptions): Logger {
      return Reflect.apply(child, this, [withoutSecrets(bindings), childOptions]) as Logger;
    },
  });
}

/** Replaces the values of secret names. Copies only what it changes. */
function withoutSecrets(facts: Record<string, unknown>): Record<string, unknown> {
  return censor(facts, LEVELS_DOWN) as Record<string, unknown>;
}

function censor(value: unknown, levelsDown: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  // A copy would be no error, and its serializer would show all of it.
  if (value instanceof Error) return censor(errorFacts(value), levelsDown);
  let censored: Record<string, unknown> | undefined;
  for (const [name, before] of Object.entries(value)) {
    const kept = levelsDown > 0 ? censor(before, levelsDown - 1) : before;
    const after = secretNames.has(name) ? CENSORED : kept;
    if (after === before) continue;
    censored ??= { ...value };
    censored[name] = after;
  }
  if (censored === undefined) return value;
  return Array.isArray(value) ? Object.values(censored) : censored;
}

let sharedStdout: DestinationStream | undefined;

/**
 * Writes the lines of one turn of the event loop with one system call. All loggers share it, so that their
 * lines stay in order. Lines of the current turn are lost if the process is killed or aborts.
 */
function stdoutByTurn(): DestinationStream {
  return (sharedStdout ??= batchedStdout());
}

function batchedStdout(): DestinationStream {
  const stdout = pino.destination({ minLength: MAX_BUFFERED, maxLength: MAX_UNWRITTEN, sync: true });
  // A reader that is gone or a full disk costs log lines, but must not end the process.
  stdout.on("error", () => {});
  let isScheduled = false;
  // `flushSync` would block the event loop until a write succeeds, even if none ever can.
  const flush = (): void => {
    isScheduled = false;
    stdout.flush();
  };
  process.on("exit", flush);
  return {
    write(line) {
      stdout.write(line);
      if (!isScheduled) setImmediate(flush);
      isScheduled = true;
    },
  };
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
    const shortened = host.length < rest.replace(/\/$/, "").length;
    return `${scheme}://${host}${shortened ? "/[secret]" : ""}`;
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

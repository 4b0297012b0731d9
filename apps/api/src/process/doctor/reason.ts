import type { Env } from "@causeway/config";
import { hostOf } from "./finding.ts";

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|SIGNER|HEADERS|XPRV/;
const MIN_SECRET_LENGTH = 8;

/**
 * Why facts could not be gathered, in one line. Errors of `fetch` have their reason in the cause; errors of
 * viem add many lines of details.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = innermost(error);
  const code = "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
  if (inner.name === "TimeoutError") return "no answer in time";
  const [line = ""] = inner.message.split("\n");
  return line === "" ? (code ?? inner.name) : line;
}

function innermost(error: Error): Error {
  let current = error;
  for (let depth = 0; depth < 8; depth += 1) {
    const next: unknown = current instanceof AggregateError ? current.errors[0] : current.cause;
    if (!(next instanceof Error) || (current.name === "StartProblem" && depth === 0)) return current;
    current = next;
  }
  return current;
}

/**
 * Replaces URLs in the environment with their hosts, and secrets with `***`. The service's own texts contain
 * no secrets; this protects against texts of libraries and servers.
 */
export function redactor(env: Env): (text: string) => string {
  const replaced = Object.entries(env)
    .flatMap(([name, value = ""]) =>
      value.split(/[;,|\s]+/).flatMap((part): (readonly [string, string])[] => {
        if (part.length < MIN_SECRET_LENGTH) return [];
        if (part.includes("://")) return [[part, hostOf(part)], ...passwordsOf(part)];
        return SECRET_NAME.test(name) && !/^0x[0-9a-fA-F]{40}$/.test(part) ? [[part, "***"]] : [];
      }),
    )
    .sort(([a], [b]) => b.length - a.length);
  return (text) => replaced.reduce((clean, [secret, mark]) => clean.replaceAll(secret, mark), text);
}

function passwordsOf(text: string): (readonly [string, string])[] {
  const url = URL.parse(text);
  if (url === null) return [];
  const parts = [url.password, decodeURIComponent(url.password), url.search];
  return parts.filter((part) => part.length >= MIN_SECRET_LENGTH).map((part) => [part, "***"] as const);
}

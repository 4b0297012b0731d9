import type { Env } from "./env.ts";

const PLACEHOLDER = /^\$([A-Z][A-Z0-9_]*)$/;

/** The variable of a placeholder, e.g. `BASE_RPC_URL` for `$BASE_RPC_URL`; undefined for ordinary text. */
export function placeholderName(text: string): string | undefined {
  return PLACEHOLDER.exec(text)?.[1];
}

/**
 * ` (NAME)` if the text at `path` of the document is a placeholder for the variable NAME, otherwise empty.
 * Appended to a problem, to show where to fix it.
 */
export function variableAt(document: unknown, path: readonly PropertyKey[]): string {
  let value = document;
  for (const key of path)
    value =
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  const name = typeof value === "string" ? placeholderName(value) : undefined;
  return name === undefined ? "" : ` (${name})`;
}

/** A document with its placeholders replaced. */
export interface Resolved {
  /** Properties whose variable is unset are left out. */
  readonly value: unknown;
  /** The path of a missing value, and the variable that would provide it. */
  readonly unset: readonly { readonly path: readonly (string | number)[]; readonly variable: string }[];
}

/** Whether a chain's endpoint is a placeholder and no variable in its entry is set. */
export function isUnconfigured(document: unknown, env: Env): boolean {
  const { unset } = resolvePlaceholders(document, {});
  const hasEndpoint = !unset.some(({ path: [field] }) => field === "httpRpcUrl");
  return !hasEndpoint && unset.every(({ variable }) => (env[variable]?.trim() ?? "") === "");
}

/** Replaces every string `$NAME` of a JSON value, at any depth, by that variable. Empty counts as unset. */
export function resolvePlaceholders(
  document: unknown,
  env: Env,
  path: readonly (string | number)[] = [],
): Resolved {
  if (typeof document === "string") {
    const variable = placeholderName(document);
    if (variable === undefined) return { value: document, unset: [] };
    const value = env[variable]?.trim() ?? "";
    return value === "" ? { value: undefined, unset: [{ path, variable }] } : { value, unset: [] };
  }
  if (Array.isArray(document)) {
    const parts = document.map((item, index) => resolvePlaceholders(item, env, [...path, index]));
    return { value: parts.map((p) => p.value), unset: parts.flatMap((p) => p.unset) };
  }
  if (typeof document === "object" && document !== null) {
    const parts = Object.entries(document).map(
      ([key, item]) => [key, resolvePlaceholders(item, env, [...path, key])] as const,
    );
    const present = parts.filter(([, p]) => p.value !== undefined).map(([key, p]) => [key, p.value] as const);
    return { value: Object.fromEntries(present), unset: parts.flatMap(([, p]) => p.unset) };
  }
  return { value: document, unset: [] };
}

/** All problems of a configuration. No problem contains a secret. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "CONFIG_INVALID";
  /** Each is one sentence that starts with the setting or the path in a file. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`configuration has ${problems.length} problem(s):\n${problems.map((p) => `  - ${p}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Returns what `read` returns. If it throws a ConfigError, adds its problems to `problems` and returns
 * undefined, so that one start reports every problem. Other errors are rethrown.
 */
export function gather<T>(problems: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

/**
 * Returns the parts of a configuration once all of them are read.
 * @throws ConfigError with the problems, if there are any
 */
export function requireAll<P extends Readonly<Record<string, unknown>>>(
  parts: P,
  problems: readonly string[],
): { readonly [K in keyof P]: Exclude<P[K], undefined> } {
  if (problems.length > 0) throw new ConfigError(problems);
  const missing = Object.keys(parts).filter((name) => parts[name] === undefined);
  if (missing.length > 0)
    throw new ConfigError([`invariant violated: ${missing.join(", ")} missing without a reported problem`]);
  return parts as { readonly [K in keyof P]: Exclude<P[K], undefined> };
}

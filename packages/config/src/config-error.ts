/** What is wrong with the configuration, all of it at once. No problem text holds a secret value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "CONFIG_INVALID";
  /** One sentence each, led by the setting or the path in the file. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`configuration has ${problems.length} problem(s):\n${problems.map((p) => `  - ${p}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Runs `read` and keeps its result; a ConfigError is added to `problems` instead of ending the reading,
 * so that one start reports everything that is wrong. Other errors pass through.
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

import { readFileSync } from "node:fs";
import type { z } from "zod";
import { ConfigError } from "./config-error.ts";

/** Where the configuration files are, and for which environment. */
export interface ConfigLocation {
  readonly environment: string;
  readonly configsDir: string;
}

/**
 * Reads one JSON file of the configuration.
 * @throws ConfigError if it is missing, unreadable or not JSON
 */
export function readJsonFile(path: string, fileName: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new ConfigError([`${fileName}: file is unreadable at ${path} (${code})`]);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ConfigError([`${fileName}: invalid JSON`]);
  }
}

/** The path of a schema issue, such as `.additionalData.rpcQuorum`. */
export function pathOf(issue: z.core.$ZodIssue): string {
  return issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
}

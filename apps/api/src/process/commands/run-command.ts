import { parseArgs, type ParseArgsConfig } from "node:util";
import { failureText } from "./failure-text.ts";

/** The exit codes that every operator command has. */
export const DONE = 0;
export const FAILED = 1;
export const MISUSED = 2;

/** The arguments of a command are invalid: its usage is printed with the message. */
export class UsageError extends Error {}

/**
 * Runs a command. Never throws: the exit code reports the outcome.
 * @param codeOf exit code of a failure that is not a `UsageError`
 */
export async function runCommand(
  usage: string,
  command: () => Promise<number>,
  codeOf: (error: unknown) => number = () => FAILED,
): Promise<number> {
  try {
    return await command();
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\nusage:\n${usage}`);
      return MISUSED;
    }
    // Error messages contain no secrets: configuration errors and RPC faults never do.
    process.stderr.write(`${failureText(error)}\n`);
    return codeOf(error);
  }
}

/** Opens the resource that a command administers, prints each line of its result as JSON, and closes it. */
export async function administer<Admin>(
  open: () => { readonly admin: Admin; close(): Promise<void> },
  action: (admin: Admin) => Promise<readonly object[]>,
): Promise<number> {
  const { admin, close } = open();
  try {
    for (const line of await action(admin)) printLine(line);
    return DONE;
  } finally {
    await close();
  }
}

/**
 * The options and arguments of a command.
 * @throws UsageError
 */
export function commandLine<const Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "unknown options");
  }
}

/** Prints a JSON line. */
export function printLine(line: object): void {
  const asText = (_key: string, value: unknown): unknown =>
    typeof value === "bigint" ? value.toString() : value;
  process.stdout.write(`${JSON.stringify(line, asText)}\n`);
}

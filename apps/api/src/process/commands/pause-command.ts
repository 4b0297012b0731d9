import { ServiceError } from "@causeway/domain";
import { parseArgs } from "node:util";
import { pauseJson, type PauseAdmin } from "../../payments/policy/pause-admin.ts";
import { failureText } from "./failure-text.ts";

export const PAUSE_USAGE = `  operator pauses             what is paused, by whom and why
  operator pause <scope> --by <name> --reason <text>
                              pauses new quotes and payments; refunds, sweeps and settlement continue. Scope: all, chain:<chain id> (from and
                              to it), or route:<origin chain id>-<destination chain id>
  operator resume <scope>     resumes them within seconds
`;

const DONE = 0;
const FAILED = 1;
const MISUSED = 2;

/** Opens what pauses are stored in. */
export type OpenPauses = () => { readonly admin: PauseAdmin; close(): Promise<void> };

class Misused extends Error {}

/** `operator pause`, `resume` and `pauses`. Never throws: the exit code reports the outcome. */
export async function runPauses(words: readonly string[], open: OpenPauses): Promise<number> {
  try {
    const act = readWords(words);
    const { admin, close } = open();
    try {
      for (const line of await act(admin)) process.stdout.write(`${JSON.stringify(line)}\n`);
      return DONE;
    } finally {
      await close();
    }
  } catch (error) {
    const isMisused =
      error instanceof Misused || (error instanceof ServiceError && error.code === "INVALID_REQUEST");
    if (isMisused) {
      process.stderr.write(`${error.message}\nusage:\n${PAUSE_USAGE}`);
      return MISUSED;
    }
    process.stderr.write(`${failureText(error)}\n`);
    return FAILED;
  }
}

type Act = (admin: PauseAdmin) => Promise<readonly object[]>;

/** @throws Misused */
function readWords([command, ...rest]: readonly string[]): Act {
  const { values, positionals } = parsed(rest);
  const [scope, ...more] = positionals;
  if (command === "pauses") {
    if (rest.length > 0) throw new Misused("pauses takes no arguments");
    return async (admin) => (await admin.list()).map(pauseJson);
  }
  if (scope === undefined || more.length > 0) throw new Misused(`${command} requires exactly one scope`);
  if (command === "resume") {
    if (Object.keys(values).length > 0) throw new Misused("resume takes no options");
    return async (admin) => {
      await admin.resume(scope);
      return [{ resumed: scope }];
    };
  }
  const { by, reason } = values;
  if (by === undefined || by === "" || reason === undefined || reason === "")
    throw new Misused("pause requires --by <name> and --reason <text>");
  return async (admin) => [pauseJson(await admin.pause(scope, by, reason))];
}

/** @throws Misused */
function parsed(rest: readonly string[]) {
  const options = { by: { type: "string" }, reason: { type: "string" } } as const;
  try {
    return parseArgs({ args: [...rest], options, allowPositionals: true });
  } catch (error) {
    throw new Misused(error instanceof Error ? error.message : "unknown options");
  }
}

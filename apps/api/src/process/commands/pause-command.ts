import { ServiceError } from "@causeway/domain";
import { pauseJson, type PauseAdmin } from "../../payments/policy/pause-admin.ts";
import { administer, commandLine, runCommand, UsageError } from "./run-command.ts";

export const PAUSE_USAGE = `  operator pauses             what is paused, by whom and why
  operator pause <scope> --by <name> --reason <text>
                              pauses new quotes and payments; refunds, sweeps and settlement continue. Scope: all, chain:<chain id> (from and
                              to it), or route:<origin chain id>-<destination chain id>
  operator resume <scope>     resumes them within seconds
`;

/** Opens the store of pauses. */
export type OpenPauses = () => { readonly admin: PauseAdmin; close(): Promise<void> };

/** `operator pause`, `resume` and `pauses`. Never throws: the exit code reports the outcome. */
export async function runPauses(args: readonly string[], open: OpenPauses): Promise<number> {
  return await runCommand(PAUSE_USAGE, async () => {
    const action = parseArguments(args);
    try {
      return await administer(open, action);
    } catch (error) {
      const isInvalid = error instanceof ServiceError && error.code === "INVALID_REQUEST";
      throw isInvalid ? new UsageError(error.message) : error;
    }
  });
}

type Action = (admin: PauseAdmin) => Promise<readonly object[]>;

/** @throws UsageError */
function parseArguments([command, ...rest]: readonly string[]): Action {
  const options = { by: { type: "string" }, reason: { type: "string" } } as const;
  const { values, positionals } = commandLine({ args: [...rest], options, allowPositionals: true });
  const [scope, ...more] = positionals;
  if (command === "pauses") {
    if (rest.length > 0) throw new UsageError("pauses takes no arguments");
    return async (admin) => (await admin.list()).map(pauseJson);
  }
  if (scope === undefined || more.length > 0) throw new UsageError(`${command} requires exactly one scope`);
  if (command === "resume") {
    if (Object.keys(values).length > 0) throw new UsageError("resume takes no options");
    return async (admin) => {
      await admin.resume(scope);
      return [{ resumed: scope }];
    };
  }
  const { by, reason } = values;
  if (by === undefined || by === "" || reason === undefined || reason === "")
    throw new UsageError("pause requires --by <name> and --reason <text>");
  return async (admin) => [pauseJson(await admin.pause(scope, by, reason))];
}

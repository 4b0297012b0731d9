import { runDeploy } from "../../apps/api/src/process/commands/deploy-command.ts";

// Runs `operator deploy` for tests that kill it. It starts in half the time, because it does not load the
// other commands.

// oxlint-disable-next-line no-restricted-properties -- a process entry
process.exitCode = await runDeploy(process.argv.slice(2), process.env);

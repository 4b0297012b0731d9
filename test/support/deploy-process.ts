import { runDeploy } from "../../apps/api/src/process/commands/deploy-command.ts";

// Runs `operator deploy` for tests that kill it. Without the other commands, it starts in half the time.

// oxlint-disable-next-line no-restricted-properties -- a process entry
process.exitCode = await runDeploy(process.argv.slice(2), process.env);

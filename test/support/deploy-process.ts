import { runDeploy } from "../../apps/api/src/process/commands/deploy-command.ts";

// Runs `operator deploy` without the other commands, which starts in half the time: tests kill it.

// oxlint-disable-next-line no-restricted-properties -- a process entry
process.exitCode = await runDeploy(process.argv.slice(2), process.env);

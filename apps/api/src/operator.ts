// Reports for the operator: `funds` (money that was not attributed or refunded), `trace <requestId>` (history
// of a request), `lanes` (pending payments), `settlement` (amounts that the hub owes), and others. `doctor`
// checks the instance. `pause`, `resume`, `keys`, `refund`, `withdraw`, `archive` and `deploy` change
// something. Each command is loaded when it is run: loading all takes three times as long.
import { type Env, takeEnvironment } from "@causeway/config";

/** Loads every command for its part of the usage text. */
async function usage(): Promise<string> {
  const [reports, pauses, keys, refund, withdraw, archive, deploy, doctor] = await Promise.all([
    import("./process/commands/report-command.ts"),
    import("./process/commands/pause-command.ts"),
    import("./process/commands/keys-command.ts"),
    import("./process/commands/refund-command.ts"),
    import("./process/commands/withdraw-command.ts"),
    import("./process/commands/archive-command.ts"),
    import("./process/commands/deploy-command.ts"),
    import("./process/commands/doctor-command.ts"),
  ]);
  const commands = [
    pauses.PAUSE_USAGE,
    keys.KEYS_USAGE,
    refund.REFUND_USAGE,
    withdraw.WITHDRAW_USAGE,
    archive.ARCHIVE_USAGE,
    deploy.DEPLOY_USAGE,
    doctor.DOCTOR_USAGE,
  ];
  return `usage:\n${reports.REPORT_USAGE}${commands.join("")}${reports.REPORT_NOTES}`;
}

async function runCommand(words: readonly string[], env: Env): Promise<number> {
  if (words.includes("--help") || words.includes("-h")) {
    process.stdout.write(await usage());
    return 0;
  }
  const [command = "", ...rest] = words;
  switch (command) {
    case "withdraw": {
      const { runWithdraw } = await import("./process/commands/withdraw-command.ts");
      const { openWithdrawals } = await import("./process/withdrawals.ts");
      return await runWithdraw(rest, env, openWithdrawals);
    }
    case "refund": {
      const { runRefund } = await import("./process/commands/refund-command.ts");
      const { openRefunds } = await import("./process/refunds.ts");
      return await runRefund(rest, () => openRefunds(env));
    }
    case "pause":
    case "resume":
    case "pauses": {
      const { runPauses } = await import("./process/commands/pause-command.ts");
      const { openPauses } = await import("./process/pauses.ts");
      return await runPauses(words, () => openPauses(env));
    }
    case "keys": {
      const { runKeys } = await import("./process/commands/keys-command.ts");
      const { openKeys } = await import("./process/keys.ts");
      return await runKeys(rest, () => openKeys(env));
    }
    case "archive": {
      const { runArchive } = await import("./process/commands/archive-command.ts");
      const { openArchives } = await import("./process/archives.ts");
      return await runArchive(rest, () => openArchives(env));
    }
    case "deploy":
      return await (await import("./process/commands/deploy-command.ts")).runDeploy(rest, env);
    case "doctor":
      return await (await import("./process/commands/doctor-command.ts")).runDoctor(rest, env);
    default:
      return await (await import("./process/commands/report-command.ts")).runReport(words, env, usage);
  }
}

process.exitCode = await runCommand(process.argv.slice(2), takeEnvironment(process.env));

// Reports for the operator: `funds` (money that was not attributed or refunded), `trace <requestId>` (history
// of a request), `lanes` (pending payments), `settlement` (what the hub owes), and others. `doctor` checks
// the instance. `pause`, `resume`, `keys`, `refund`, `withdraw`, `archive` and `deploy` change something.
import { ConfigError, type Env, takeEnvironment } from "@causeway/config";
import { addressReport } from "./deposits/addresses/deposit-address-report.postgres.ts";
import { balanceReport, claimReport, holdReport } from "./balances/operator-balance-reads.postgres.ts";
import { createPool, sqlOn } from "./db/pool.postgres.ts";
import { laneReport, strandedFunds } from "./payments/operator-reads.postgres.ts";
import { settlementOf, settlementReport, withdrawalReport } from "./payments/operator-settlement.postgres.ts";
import { traceOf } from "./payments/operator-trace.postgres.ts";
import type { Sql } from "./db/pool.postgres.ts";
import { webhookReport } from "./push/webhook-report.postgres.ts";
import { openArchives } from "./process/archives.ts";
import { openKeys } from "./process/keys.ts";
import { openRefunds } from "./process/refunds.ts";
import { openWithdrawals } from "./process/withdrawals.ts";
import { readDatabaseUrl } from "./config/database-url.ts";
import { ARCHIVE_USAGE, runArchive } from "./process/commands/archive-command.ts";
import { DEPLOY_USAGE, runDeploy } from "./process/commands/deploy-command.ts";
import { DOCTOR_USAGE, runDoctor } from "./process/commands/doctor-command.ts";
import { failureText } from "./process/commands/failure-text.ts";
import { KEYS_USAGE, runKeys } from "./process/commands/keys-command.ts";
import { chainsToName, namedRows } from "./process/named-rows.ts";
import { PAUSE_COMMANDS, PAUSE_USAGE, runPauses } from "./process/commands/pause-command.ts";
import { openPauses } from "./process/pauses.ts";
import { REFUND_USAGE, runRefund } from "./process/commands/refund-command.ts";
import { runWithdraw, WITHDRAW_USAGE } from "./process/commands/withdraw-command.ts";

const USAGE = `usage:
  operator funds              funds in the depositories, or meant for an app balance, that are unattributed, cannot be refunded automatically, or wait for the daily limit
  operator addresses          funds held at deposit addresses, and why; sweeps that are not final
  operator trace <requestId>  everything that happened to a request, in order
  operator lanes              payments that are not final yet, by chain; then the transactions to the hub that are not final yet, with postponed executions
  operator settlement         how many payments wait to be settled on the hub, since when, and why
  operator settlement <requestId>  settlement of each final payment of one request: due, attested, settled or unrepayable, and why
  operator withdrawals        withdrawals from the hub, newest first
  operator balances           the app balance of every wallet, what is reserved and what it owes; then the service's own accounts (wallet \`house\`):
                              held_on_chain: what the solver's address must hold: the wallets' money (less what they owe), fees and fronted
                              fees: the service's money: what wallets paid for gas and fees
                              fronted: the service's money: what apps paid for fast fills that no deposit covered, less deposit surpluses credited to them
  operator balances <wallet>  the same for one wallet
  operator holds              active holds of fast fills, and fast fills charged to an app balance because their deposit did not arrive in time
  operator webhooks           webhook URLs by API key, pending deliveries, and since when deliveries have failed
  operator claims             claims in progress, then the newest others
${PAUSE_USAGE}${KEYS_USAGE}${REFUND_USAGE}${WITHDRAW_USAGE}${ARCHIVE_USAGE}${DEPLOY_USAGE}${DOCTOR_USAGE}Exit code of the reports: 0 on success (with \`none\` on stderr if there are no rows), 1 if the request is unknown or the database could not be read, 2 if the command is not valid.
DATABASE_URL names the database; without it, \`npm run operator\` uses that of the running local system.
`;

/** Undefined: the subject of the report does not exist. */
type Question = (sql: Sql) => Promise<readonly object[] | undefined>;

/** Undefined when the arguments name no report. */
function questionOf([command, argument, ...more]: readonly string[]): Question | undefined {
  if (more.length > 0) return undefined;
  if (command === "trace" && argument !== undefined) return (sql) => traceOf(sql, argument.toLowerCase());
  if (command === "balances" && argument !== undefined)
    return (sql) => balanceReport(sql, argument.toLowerCase());
  if (command === "settlement" && argument !== undefined)
    return (sql) => settlementOf(sql, argument.toLowerCase());
  if (argument !== undefined) return undefined;
  if (command === "settlement") return settlementReport;
  if (command === "withdrawals") return withdrawalReport;
  if (command === "balances") return (sql) => balanceReport(sql);
  if (command === "holds") return holdReport;
  if (command === "claims") return claimReport;
  if (command === "webhooks") return webhookReport;
  if (command === "funds") return strandedFunds;
  if (command === "lanes") return laneReport;
  if (command === "addresses") return addressReport;
  return undefined;
}

/** Prints one JSON line per row, for people and for jq. Amounts are text, because JSON has no bigint. */
function print(rows: readonly object[], env: Env): void {
  const asText = (_key: string, value: unknown): unknown =>
    typeof value === "bigint" ? value.toString() : value;
  const named = namedRows(rows.length === 0 ? [] : chainsToName(env));
  for (const row of rows) process.stdout.write(`${JSON.stringify(named(row), asText)}\n`);
  // To stderr, so that a program which reads the rows from stdout gets none.
  if (rows.length === 0) process.stderr.write("none\n");
}

async function run(words: readonly string[], env: Env): Promise<number> {
  const question = questionOf(words);
  if (question === undefined) {
    if (words[0] !== undefined)
      process.stderr.write(`unknown command or wrong arguments: ${words.join(" ")}\n`);
    process.stderr.write(USAGE);
    return 2;
  }
  let pool;
  try {
    pool = createPool(readDatabaseUrl(env), {
      max: 1,
      statementTimeoutMs: 30_000,
      applicationName: "causeway operator",
    });
    const rows = await question(sqlOn(pool));
    if (rows === undefined) {
      process.stderr.write(`Request ${words[1]} not found\n`);
      return 1;
    }
    print(rows, env);
    return 0;
  } catch (error) {
    const hint =
      env["DATABASE_URL"] === undefined
        ? "npm run operator reads the running local system, and none is running. Set DATABASE_URL, or run npm start.\n"
        : "";
    process.stderr.write(
      error instanceof ConfigError
        ? `${error.message}\n${hint}`
        : `${failureText(error, "the database could not be read: ")}\n`,
    );
    return 1;
  } finally {
    await pool?.end();
  }
}

/** Commands that change something have files of their own. */
async function runCommand(words: readonly string[], env: Env): Promise<number> {
  if (words.includes("--help") || words.includes("-h")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const [command, ...rest] = words;
  if (command === "withdraw") return await runWithdraw(rest, env, openWithdrawals);
  if (command === "refund") return await runRefund(rest, () => openRefunds(env));
  if (command !== undefined && PAUSE_COMMANDS.has(command))
    return await runPauses(words, () => openPauses(env));
  if (command === "keys") return await runKeys(rest, () => openKeys(env));
  if (command === "archive") return await runArchive(rest, () => openArchives(env));
  if (command === "deploy") return await runDeploy(rest, env);
  if (command === "doctor") return await runDoctor(rest, env);
  return await run(words, env);
}

process.exitCode = await runCommand(process.argv.slice(2), takeEnvironment(process.env));

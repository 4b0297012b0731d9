import { ConfigError, type Env } from "@causeway/config";
import { balanceReport, claimReport, holdReport } from "../../balances/operator-balance-reads.postgres.ts";
import { readDatabaseUrl } from "../../config/database-url.ts";
import { createPool, sqlOn, type Sql } from "../../db/pool.postgres.ts";
import { addressReport } from "../../deposits/addresses/deposit-address-report.postgres.ts";
import { laneReport, strandedFunds } from "../../payments/operator-reads.postgres.ts";
import {
  settlementOf,
  settlementReport,
  withdrawalReport,
} from "../../payments/operator-settlement.postgres.ts";
import { traceOf } from "../../payments/operator-trace.postgres.ts";
import { webhookReport } from "../../push/webhook-report.postgres.ts";
import { chainsToName, namedRows } from "../named-rows.ts";
import { failureText } from "./failure-text.ts";

export const REPORT_USAGE = `  operator funds              funds in the depositories, or meant for an app balance, that are unattributed, cannot be refunded automatically, or wait for the daily limit
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
`;

export const REPORT_NOTES = `Exit code of the reports: 0 on success (with \`none\` on stderr if there are no rows), 1 if the request is unknown or the database could not be read, 2 if the command is not valid.
DATABASE_URL names the database; without it, \`npm run operator\` uses that of the running local system.
`;

/** Reads the rows of a report. Undefined: the requested request does not exist. */
type ReportReader = (sql: Sql) => Promise<readonly object[] | undefined>;

/** Undefined if the arguments name no report. */
function reportReaderOf([command, argument, ...more]: readonly string[]): ReportReader | undefined {
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
  // On stderr, so that a program that reads the rows from stdout gets an empty list.
  if (rows.length === 0) process.stderr.write("none\n");
}

/**
 * Prints a report from the database. Never throws: the exit code reports the outcome.
 * @param usage the usage of all commands, for arguments that name no report
 */
export async function runReport(
  args: readonly string[],
  env: Env,
  usage: () => Promise<string>,
): Promise<number> {
  const readReport = reportReaderOf(args);
  if (readReport === undefined) {
    if (args[0] !== undefined)
      process.stderr.write(`unknown command or wrong arguments: ${args.join(" ")}\n`);
    process.stderr.write(await usage());
    return 2;
  }
  let pool;
  try {
    pool = createPool(readDatabaseUrl(env), {
      max: 1,
      statementTimeoutMs: 30_000,
      applicationName: "causeway operator",
      plans: "per use",
    });
    const rows = await readReport(sqlOn(pool));
    if (rows === undefined) {
      process.stderr.write(`Request ${args[1]} not found\n`);
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

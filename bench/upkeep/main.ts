// Rehearses upkeep of a large database:
// `npm run bench:upkeep -- reconcile|prune|dead-node|month [rows [connections]]`.
// Storing a million rows takes a minute, a million requests with all their rows six minutes. For those, set
// DATABASE_URL to a server with memory for the indexes: 4 GB of shared_buffers for 2.6 million requests.
import { programOptions } from "../../scripts/program-options.ts";
import { onOwnDatabase } from "../own-database.ts";
import { measureDeadNode } from "./measure-dead-node.ts";
import { measureMonth } from "./measure-month.ts";
import { measurePrune } from "./measure-prune.ts";
import { measureReconcile } from "./measure-reconcile.ts";

const subjects = ["reconcile", "prune", "dead-node", "month"] as const;
const usage = `usage: npm run bench:upkeep -- ${subjects.join("|")} [rows [connections of the archive]]`;
const { subject, rows, connections } = programOptions(usage, ([name, count, connectionCount]) => {
  const matched = subjects.find((subjectName) => subjectName === name);
  if (matched === undefined) throw new RangeError(`expected one of ${subjects.join(", ")}, got ${name}`);
  return { subject: matched, rows: count, connections: connectionCount };
});
const database = { name: "upkeep", statementTimeoutMs: 6 * 3_600_000, isLarge: true };

switch (subject) {
  case "reconcile": {
    const waiting = Number(rows ?? 1_000_000);
    report(
      await onOwnDatabase(process.env, database, ({ pool }) =>
        measureReconcile(pool, { waiting, expiring: 20_000 }),
      ),
    );
    break;
  }
  case "prune":
    report(
      await onOwnDatabase(process.env, database, ({ pool }) => measurePrune(pool, Number(rows ?? 4_000_000))),
    );
    break;
  case "dead-node":
    report(
      await onOwnDatabase(process.env, database, ({ pool, url }) =>
        measureDeadNode(pool, url, Number(rows ?? 200)),
      ),
    );
    break;
  case "month":
    report(
      await onOwnDatabase(process.env, database, ({ pool, url }) =>
        measureMonth(
          pool,
          url,
          { requests: Number(rows ?? 260_000), connections: Number(connections ?? 2) },
          (text) => process.stderr.write(`${(performance.now() / 1000).toFixed(0)} s: ${text}\n`),
        ),
      ),
    );
    break;
}

function report(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
}

// Rehearses upkeep of a large database: `node -C source bench/upkeep/main.ts reconcile|prune|dead-node [rows]`. Storing a million rows takes a minute.
import { onOwnDatabase } from "../own-database.ts";
import { measureDeadNode } from "./measure-dead-node.ts";
import { measurePrune } from "./measure-prune.ts";
import { measureReconcile } from "./measure-reconcile.ts";

const [what, rows] = process.argv.slice(2);
const database = { name: "upkeep", statementTimeoutMs: 600_000 };

switch (what) {
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
  default:
    throw new RangeError("expected one of: reconcile, prune, dead-node");
}

function report(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
}

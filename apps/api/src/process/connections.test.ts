import { expect, test } from "vitest";
import { connectionsOf, logConnections } from "./connections.ts";

test("logs the connections of a process, and warns only when the server offers fewer", () => {
  const lines: object[] = [];
  const log = { info: (line: object) => lines.push(line), warn: (line: object) => lines.push(line) };
  logConnections(log, connectionsOf("api", { poolSize: 16 }), { maxConnections: 97 });
  logConnections(log, connectionsOf("worker", { poolSize: 16 }), { maxConnections: 15 });
  expect(lines).toEqual([
    { event: "database_connections", pool: 16, searches: 4, listeners: 2, total: 22, maxConnections: 97 },
    { event: "database_connections", pool: 16, listeners: 2, leaderLocks: 1, total: 19, maxConnections: 15 },
    {
      event: "configuration",
      warning:
        "DATABASE_POOL_SIZE: this process needs up to 19 connections, but Postgres allows 15: lower it, or raise max_connections",
    },
  ]);
});

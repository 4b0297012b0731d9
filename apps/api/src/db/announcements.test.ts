import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { announcer } from "./announcements.postgres.ts";
import type { Sql } from "./pool.postgres.ts";

test("sends the first announcement after a quiet period immediately, and batches those of the pause after it", async () => {
  const sentAtMs: number[] = [];
  const sql = {
    query: async () => {
      sentAtMs.push(performance.now());
      return [];
    },
  } as unknown as Sql;
  const { send } = announcer(sql);
  for (let round = 1; round <= 2; round++) {
    send();
    expect(sentAtMs).toHaveLength(2 * round - 1);
    send();
    send();
    await sleep(200);
    expect(sentAtMs).toHaveLength(2 * round);
    expect((sentAtMs.at(-1) ?? 0) - (sentAtMs.at(-2) ?? 0)).toBeGreaterThanOrEqual(15);
  }
});

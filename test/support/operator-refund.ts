import type pg from "pg";
import { vi } from "vitest";
import { depositsNamed } from "../../apps/api/src/payments/operator-reads.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { runRefund } from "../../apps/api/src/process/commands/refund-command.ts";

export interface OperatorRefund {
  readonly code: number;
  /** The printed steps. */
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly stderr: string;
}

/** Runs `operator refund` in this process, on the database of a world. */
export async function runOperatorRefund(
  { services, pool }: { readonly services: WorkerServices; readonly pool: pg.Pool },
  ...args: string[]
): Promise<OperatorRefund> {
  let [stdout, stderr] = ["", ""];
  const out = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => ((stdout += String(text)), true));
  const err = vi
    .spyOn(process.stderr, "write")
    .mockImplementation((text) => ((stderr += String(text)), true));
  try {
    const code = await runRefund(args, () => ({
      services,
      find: async (criterion) => await depositsNamed(sqlOn(pool), criterion),
      readPriceUsd: async (currency) => await services.prices.usd(currency),
      close: async () => undefined,
    }));
    const lines = stdout.split("\n").filter((line) => line !== "");
    return { code, stderr, steps: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

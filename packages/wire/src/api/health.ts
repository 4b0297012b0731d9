import { z } from "zod";

/** The process runs. */
export const livenessAnswer = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });

const leaderAnswer = z.object({
  leader: z
    .enum(["self", "other", "none"])
    .describe("Which worker leads the task: this one, another one, or none."),
  workedSecondsAgo: z
    .number()
    .optional()
    .describe("Seconds since this worker last scanned the chain, or settled; only while it leads."),
});

/** The process can do its work; the state of each thing it needs by name. */
export const readinessAnswer = z
  .object({
    ready: z.boolean(),
    checks: z.record(z.string(), z.string()).describe("`ok` or what is wrong, by name."),
    leaders: z
      .record(z.string(), leaderAnswer)
      .optional()
      .describe("Of workers: which worker leads each chain and settlement, by name."),
  })
  .meta({ id: "Readiness" });

export type LeaderAnswer = z.infer<typeof leaderAnswer>;
export type ReadinessAnswer = z.infer<typeof readinessAnswer>;

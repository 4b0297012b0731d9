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

const chainReadiness = z.object({
  state: z
    .enum(["ok", "behind", "lagging", "unheard"])
    .describe(
      "`behind`: blocks are not scanned for deposits yet. `lagging`: no new block for long. `unheard`: no block since the start.",
    ),
  headAgeSeconds: z
    .number()
    .int()
    .describe(
      "Seconds since a new block arrived (non-EVM chains: since the chain was last read), or since the start.",
    ),
  required: z.boolean().optional().describe("`READINESS_CHAINS` names it."),
});

/** The process can do its work; the state of each thing it needs by name. */
export const readinessAnswer = z
  .object({
    ready: z.boolean(),
    chains: z
      .record(z.string(), chainReadiness)
      .describe(
        "Every enabled chain by name. A chain that is away fails its own routes, and readiness only when all are or `READINESS_CHAINS` names it.",
      ),
    checks: z.record(z.string(), z.string()).describe("`ok` or what is wrong, by name."),
    leaders: z
      .record(z.string(), leaderAnswer)
      .optional()
      .describe("Of workers: which worker leads each chain and settlement, by name."),
  })
  .meta({ id: "Readiness" });

export type LeaderAnswer = z.infer<typeof leaderAnswer>;
export type ReadinessAnswer = z.infer<typeof readinessAnswer>;

import { z } from "zod";

/** The process runs. */
export const livenessAnswer = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });

const leaderAnswer = z.object({
  leader: z
    .enum(["self", "other", "none"])
    .describe("Worker that leads the task: this one, another one, or none."),
  workedSecondsAgo: z
    .number()
    .optional()
    .describe("Seconds since this worker last scanned the chain or settled. Present only while it leads."),
});

const chainReadiness = z.object({
  state: z
    .enum(["ok", "behind", "lagging", "unheard"])
    .describe(
      "`behind`: blocks are not scanned for deposits yet. `lagging`: no new block for too long. `unheard`: no block since the process started.",
    ),
  headAgeSeconds: z
    .number()
    .int()
    .describe(
      "Seconds since the last new block (non-EVM chains: since the chain was last read), or since the process started.",
    ),
  required: z.boolean().optional().describe("Whether `READINESS_CHAINS` lists the chain."),
});

/** The process can do its work; the state of each dependency by name. */
export const readinessAnswer = z
  .object({
    ready: z.boolean(),
    chains: z
      .record(z.string(), chainReadiness)
      .describe(
        "Every enabled chain by name. While a chain is unavailable, only requests from or to it fail. It makes the process not ready only if `READINESS_CHAINS` lists it or if all chains are unavailable.",
      ),
    checks: z.record(z.string(), z.string()).describe("`ok` or a description of the problem, by check name."),
    leaders: z
      .record(z.string(), leaderAnswer)
      .optional()
      .describe("Workers only: which worker leads each chain and settlement, by name."),
  })
  .meta({ id: "Readiness" });

export type LeaderAnswer = z.infer<typeof leaderAnswer>;
export type ReadinessAnswer = z.infer<typeof readinessAnswer>;

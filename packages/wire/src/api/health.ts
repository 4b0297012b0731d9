import { z } from "zod";

/** The process runs. */
export const livenessAnswer = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });

/** The process can do its work; the state of each thing it needs by name. */
export const readinessAnswer = z
  .object({
    ready: z.boolean(),
    checks: z.record(z.string(), z.string()).describe("`ok` or what is wrong, by name."),
  })
  .meta({ id: "Readiness" });

export type ReadinessAnswer = z.infer<typeof readinessAnswer>;

import { z } from "zod";

const count = z.int().nonnegative();

/** Answer of `GET /shadow/v1/report`: how often this oracle would have agreed with its peers. */
export const shadowReport = z
  .object({
    shadow: z.boolean().describe("Whether this oracle runs in shadow mode."),
    since: z.string().describe("ISO time from which is counted: the start of the process."),
    attestations: count.describe("Requests in which peers were asked."),
    local: z
      .object({ ok: count, failed: count, mismatch: count, pending: count })
      .describe("What this oracle said itself, compared with the answer that was given."),
    agreement: z
      .number()
      .nullable()
      .describe("Share of `ok` among the decided ones (0 to 1); null while there are none."),
  })
  .meta({ id: "ShadowReport" });

export type ShadowReport = z.infer<typeof shadowReport>;

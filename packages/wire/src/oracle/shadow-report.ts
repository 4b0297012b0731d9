import { z } from "zod";

const count = z.int().nonnegative();

/** Answer of `GET /shadow/v1/report`: how often this oracle would have agreed with its peers. */
export const shadowReport = z
  .object({
    shadow: z.boolean().describe("Whether this oracle runs in shadow mode."),
    since: z.string().describe("ISO time from which is counted: the start of the process."),
    attestations: count.describe("Requests in which peers were asked."),
    local: z
      .object({
        ok: count.describe("The same, and at least one other signer signed it."),
        alone: count.describe("The same, but nobody else signed it, or there was nothing to sign."),
        failed: count.describe("Nothing, while others signed the answer."),
        mismatch: count.describe("Something else than what others signed."),
        pending: count.describe("Nothing yet."),
      })
      .describe("What this oracle said itself, compared with the answer that was given."),
    agreement: z
      .number()
      .nullable()
      .describe("Share of `ok` in `ok`, `failed` and `mismatch` (0 to 1); null while there are none."),
    peers: z
      .array(
        z.object({
          name: z.string().describe("Host and path of the peer."),
          answered: count.describe("Answers that could be compared."),
          failed: count.describe("Calls that gave none: errors, time-outs, answers of a shadow."),
          diverged: count.describe("Of the answers, those that said something else than what was answered."),
        }),
      )
      .describe("How each peer did; a peer that was not waited for is in no count."),
  })
  .meta({ id: "ShadowReport" });

export type ShadowReport = z.infer<typeof shadowReport>;

import { z } from "zod";

const count = z.int().nonnegative();

/** Answer of `GET /shadow/v1/report`: how often this oracle would have agreed with its peers. */
export const shadowReport = z
  .object({
    shadow: z.boolean().describe("Whether this oracle runs in shadow mode."),
    since: z.string().describe("Time since which results are counted: the start of the process, ISO 8601."),
    attestations: count.describe("Number of requests for which peers were queried."),
    local: z
      .object({
        ok: count.describe("Same result, signed by at least one other signer."),
        alone: count.describe("Same result, but no other signer signed it, or there was nothing to sign."),
        failed: count.describe("No result, although others signed the response."),
        mismatch: count.describe("A result that differs from what others signed."),
        pending: count.describe("No result yet."),
      })
      .describe("This oracle's own results, compared with the responses sent."),
    agreement: z
      .number()
      .nullable()
      .describe("`ok` as a share of `ok` + `failed` + `mismatch` (0 to 1); null while all are zero."),
    peers: z
      .array(
        z.object({
          name: z.string().describe("Host and path of the peer."),
          answered: count.describe("Responses that could be compared."),
          failed: count.describe(
            "Calls without a comparable response: errors, timeouts, responses of a shadow oracle.",
          ),
          diverged: count.describe("Compared responses that differed from the response sent."),
        }),
      )
      .describe("Results by peer. A peer whose answer was not awaited is not counted."),
  })
  .meta({ id: "ShadowReport" });

export type ShadowReport = z.infer<typeof shadowReport>;

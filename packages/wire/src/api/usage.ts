import { z } from "zod";
import { message } from "../message.ts";
import { numberOrDigits } from "../scalars.ts";

export const MAX_USAGE_KEYS = 50;

const seconds = numberOrDigits("a Unix time in seconds");

/** Query of `GET /metrics/usage`. */
export const usageQuery = z.object({
  granularity: z
    .enum(["minutely", "hourly", "daily"], message("must be minutely, hourly or daily"))
    .default("hourly")
    .describe("Minutes are kept for 2 days, hours for 60 days, days for 400 days."),
  startTimestamp: seconds.optional().describe("Unix seconds; default: one day before the end."),
  endTimestamp: seconds.optional().describe("Unix seconds; default: now."),
  apiKey: z
    .union([z.string(), z.array(z.string())], message("must be the id of an API key, or an array of ids"))
    .optional()
    .describe(
      "Id of the calling secret API key, which is also the default. Any other id is refused with 403.",
    ),
});

export const usageAnswer = z
  .object({
    metrics: z.array(
      z.object({
        apiKey: z.string().describe("Id of the API key."),
        timestamp: z.iso.datetime().describe("Start of the interval (minute, hour or day)."),
        endpoint: z.string().describe("Method and path, with parameter names in place of values."),
        statusCode: z.int(),
        errorCode: z.string().optional(),
        count: z.int(),
      }),
    ),
  })
  .meta({ id: "Usage" });

export type UsageAnswer = z.infer<typeof usageAnswer>;

import { z } from "zod";

/** The deprecation headers repeated in the body, for clients that do not read headers. */
export const deprecation = z
  .object({
    message: z.string(),
    deprecatedAt: z.string().describe("ISO 8601."),
    sunsetAt: z.string().describe("The endpoint may be removed from this time on, ISO 8601."),
    successor: z.string().describe("Path of the endpoint to use instead."),
  })
  .meta({ id: "Deprecation" });

export type Deprecation = z.infer<typeof deprecation>;

import { z } from "zod";

/** Body of every error, except where an endpoint's own contract says otherwise. */
export const errorBody = z
  .object({
    message: z.string().describe("What is wrong, in words for the caller."),
    errorCode: z.string().describe("Machine-readable reason."),
    errorData: z.unknown().optional().describe("Facts that belong to the code."),
    requestId: z.string().optional().describe("Request the error belongs to."),
    failedCallData: z
      .object({ from: z.string(), to: z.string(), data: z.string(), value: z.string() })
      .optional()
      .describe("The simulated call that reverted."),
    approxSimulatedBlock: z.int().optional().describe("Block on whose state that call was simulated."),
    statusCode: z.int().describe("The HTTP status again."),
    error: z.string().describe("The HTTP status in words."),
  })
  .meta({ id: "Error" });

export type ErrorBody = z.infer<typeof errorBody>;

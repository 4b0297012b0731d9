import { z } from "zod";

/** Body of every error, except where an endpoint's own contract says otherwise. */
export const errorBody = z
  .object({
    message: z.string().describe("Description of the error for the caller."),
    errorCode: z.string().describe("Machine-readable reason."),
    errorData: z.unknown().optional().describe("Details that depend on `errorCode`."),
    requestId: z.string().optional().describe("Id of the request that the error concerns."),
    failedCallData: z
      .object({ from: z.string(), to: z.string(), data: z.string(), value: z.string() })
      .optional()
      .describe("The simulated call that reverted."),
    approxSimulatedBlock: z.int().optional().describe("Block whose state the simulation used."),
    statusCode: z.int().describe("HTTP status code."),
    error: z.string().describe("HTTP status text."),
  })
  .meta({ id: "Error" });

export type ErrorBody = z.infer<typeof errorBody>;

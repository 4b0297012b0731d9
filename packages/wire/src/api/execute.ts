import { z } from "zod";
import { message } from "../message.ts";
import { flag, hash32, hexData, numberOrDigits, text, wei, wholeNumber } from "../scalars.ts";

const contract = z
  .string(message("must be a 20-byte address"))
  .regex(/^0x[a-fA-F0-9]{40}$/, "must be a 20-byte address");

const evmChainId = z
  .union([z.number(), z.string()], message("must be an integer chain id"))
  .refine((value) => (wholeNumber(value) ?? 0) > 0, "must be an integer chain id");

const word = z
  .string(message("must be 0x and up to 64 hex digits"))
  .regex(/^0x[0-9a-fA-F]{1,64}$/, "must be 0x and up to 64 hex digits");

/** EIP-7702 authorization, in the format of the signer's wallet. */
const signedAuthorization = z
  .object(
    {
      chainId: z.int(message("must be an integer chain id")).nonnegative("must not be negative"),
      address: contract,
      nonce: z.int(message("must be a whole number")).nonnegative("must not be negative"),
      yParity: z.union([z.literal(0), z.literal(1)], message("must be 0 or 1")),
      r: word,
      s: word,
    },
    message("must be an object"),
  )
  .meta({ id: "SignedAuthorization" });

const authorizationList = z
  .array(signedAuthorization, message("must be an array"))
  .min(1, "cannot be empty")
  .optional()
  .describe("Signed EIP-7702 authorizations to include in the transaction.");

/** Body of `POST /execute`. Other fields are accepted and ignored. */
export const executeRequest = z
  .object(
    {
      executionKind: z.enum(["rawCalls"], message("must be rawCalls")),
      data: z
        .object(
          {
            chainId: evmChainId.describe("EVM chain on which to make the call."),
            to: contract.describe("Contract or account to call."),
            data: hexData.describe("Call data."),
            value: wei.describe(
              "Native token sent with the call, in wei. The sponsor's balance pays its value plus service fee and spread. Refused above the API key's rule `maxCallValueUsd`, which is 0 unless the operator sets it.",
            ),
            authorizationList,
          },
          message("must be an object"),
        )
        .describe("The call to make. An account of the service sends it: `msg.sender` is not the user."),
      executionOptions: z.object(
        {
          referrer: text(512).describe("Referrer of the app; can be empty."),
          subsidizeFees: flag.describe(
            "true: the app pays all fees from its balance. false: the quoted output pays, and the app pays gas only if the transaction fails on chain or its deposit is refunded; requires a quote requested with `originGasOverhead`.",
          ),
          destinationChainExecutionData: z
            .object(
              {
                calls: z
                  .array(
                    z.object({ to: contract, value: wei, data: hexData }, message("must be an object")),
                    message("must be an array"),
                  )
                  .min(1, "must have at least 1 element"),
                authorizationList,
              },
              message("must be an object"),
            )
            .optional()
            .describe("Calls to make on the destination chain together with the fill; requires `requestId`."),
        },
        message("must be an object"),
      ),
      requestId: hash32.optional().describe("Request id of the quote to execute. Absent: a standalone call."),
      originGasOverhead: numberOrDigits("a whole number of gas units")
        .optional()
        .describe("Ignored here: the quote already includes it."),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "ExecuteRequest" });

/** The fields that the route passes to the use case. */
export type ExecuteInput = z.infer<typeof executeRequest>;

export const executeAnswer = z
  .object({
    message: z.string(),
    requestId: z.string().describe("Pass it to `GET /intents/status/v3`."),
  })
  .meta({ id: "ExecuteAnswer" });
export type ExecuteAnswer = z.infer<typeof executeAnswer>;

/** Body of every error of `POST /execute` except a failed simulation: only this field. */
export const plainError = z
  .strictObject({ error: z.string().describe("Description of the error for the caller.") })
  .meta({ id: "PlainError" });

const failureFrame = z
  .strictObject({
    type: z.string(),
    address: z.string().optional(),
    contract: z.string().optional(),
    function: z.string().optional(),
    selector: z.string().optional(),
    error: z.string().optional(),
    revertReason: z.string().optional(),
    gasUsed: z.string().optional(),
  })
  .meta({ id: "SimulationFrame" });

/** Why the simulated call cannot succeed. */
export const simulationError = z
  .strictObject({
    error: z.string().describe("Label, e.g. `INVALID_SIGNATURE`."),
    message: z.string(),
    requestId: z.string().describe("Include it when you contact the operator."),
    details: z
      .strictObject({
        topLevel: failureFrame,
        innermost: failureFrame,
        path: z.array(failureFrame),
        revert: z.strictObject({
          type: z.enum(["errorString", "panic", "customError", "unknownCustomError", "empty"]),
          label: z.string(),
          message: z.string(),
          selector: z.string().optional(),
          name: z.string().optional(),
          args: z.record(z.string(), z.string()).optional(),
          rawArgsHex: z.string().optional(),
        }),
      })
      .optional(),
  })
  .meta({ id: "SimulationError" });
export type SimulationErrorBody = z.infer<typeof simulationError>;

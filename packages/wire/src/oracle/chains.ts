import { VM_TYPES } from "@causeway/domain";
import { z } from "zod";

/** Answer of `GET /chains/v1`: the chains that this oracle attests, without the hub. */
export const oracleChainsAnswer = z
  .object({
    chains: z.array(
      z.object({
        id: z.string().describe("The name used in orders and attestations."),
        vmType: z.enum(VM_TYPES),
        depository: z
          .string()
          .optional()
          .describe("Address of the depository. Absent if deposits and withdrawals are not attested."),
      }),
    ),
  })
  .meta({ id: "OracleChainsAnswer" });

export type OracleChainsAnswer = z.infer<typeof oracleChainsAnswer>;

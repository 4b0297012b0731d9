import { z } from "zod";

const count = z.int().nonnegative();
const reach = z
  .enum(["reachable", "unreachable"])
  .describe("Whether a node answered a question of this report.");
const problem = z
  .string()
  .optional()
  .describe("Kind of the fault, e.g. `wrongChain` or `timeout`; absent when there is none.");
const finalBlock = z
  .object({
    height: count.describe(
      "Number of the newest block (slot, ledger) that is final by the policy of this oracle.",
    ),
    ageSeconds: count.optional().describe("By the block's own time; absent where a node tells none with it."),
  })
  .optional()
  .describe("Absent when no node answered, or when the family has no final block to ask for.");

/** Answer of `GET /status/v1`: who this oracle is for the hub, and what it can see. */
export const oracleStatus = z
  .object({
    signer: z.string().describe("Address that this oracle signs with."),
    shadow: z.boolean().describe("Whether this oracle runs in shadow mode."),
    quorum: z
      .object({
        threshold: count.describe(
          "Signatures with which this oracle answers at once (`ORACLE_SIGNERS_THRESHOLD`).",
        ),
        signers: count.nullable().describe("Addresses in its `ORACLE_SIGNERS`; null: it has no list."),
      })
      .describe("What this oracle itself counts. It may differ from what the hub asks for."),
    hub: z.object({
      id: z.string(),
      chainId: count,
      status: reach,
      problem,
      finalBlock,
      multisig: z
        .object({
          isSigner: z.boolean().describe("Whether the hub counts the signatures of this oracle."),
          threshold: count.describe("Signatures that an execution on the hub needs."),
        })
        .nullable()
        .describe(
          "By the hub's OracleMultisig at its final block; null when it is not configured or was not read.",
        ),
    }),
    chains: z.array(
      z.object({
        id: z.string(),
        vmType: z.string(),
        status: z
          .enum(["reachable", "unreachable", "unknown", "unsupported"])
          .describe(
            "`unknown`: an exchange, which is only asked about transactions, and was not asked yet. `unsupported`: this build cannot read the family.",
          ),
        problem,
        finalBlock,
        lastAnswerSecondsAgo: count
          .nullable()
          .describe("Since a node of the chain last answered anything; null: not since the start."),
      }),
    ),
    checkedSecondsAgo: count.describe("Age of this report, which is shared by all callers for some seconds."),
  })
  .meta({ id: "OracleStatus" });

export type OracleStatus = z.infer<typeof oracleStatus>;

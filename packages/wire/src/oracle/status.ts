import { z } from "zod";

const count = z.int().nonnegative();
const reach = z
  .enum(["reachable", "unreachable"])
  .describe("Whether a node answered a query of this report.");
const problem = z
  .string()
  .optional()
  .describe("Kind of problem, such as `wrongChain` or `timeout`; absent if there is none.");
const finalBlock = z
  .object({
    height: count.describe(
      "Number of the newest block (slot, ledger) that is final under this oracle's policy.",
    ),
    ageSeconds: count
      .optional()
      .describe("Age by the block's own timestamp; absent if the node does not report one."),
  })
  .optional()
  .describe("Absent if no node answered or if the chain family has no final block to query.");

/** Answer of `GET /status/v1`: this oracle's identity on the hub, and whether it reaches hub and chains. */
export const oracleStatus = z
  .object({
    signer: z.string().describe("Address with which this oracle signs."),
    shadow: z.boolean().describe("Whether this oracle runs in shadow mode."),
    quorum: z
      .object({
        threshold: count.describe(
          "Number of signatures at which this oracle answers without waiting for more (`ORACLE_SIGNERS_THRESHOLD`).",
        ),
        signers: count.nullable().describe("Number of addresses in `ORACLE_SIGNERS`; null if it is not set."),
      })
      .describe("The signers and threshold that this oracle uses. They can differ from those of the hub."),
    hub: z.object({
      id: z.string(),
      chainId: count,
      status: reach,
      problem,
      finalBlock,
      multisig: z
        .object({
          isSigner: z.boolean().describe("Whether the hub counts this oracle's signature."),
          threshold: count.describe("Number of signatures that an execution on the hub needs."),
        })
        .nullable()
        .describe(
          "State of the hub's OracleMultisig at its final block; null if not configured or not read.",
        ),
    }),
    chains: z.array(
      z.object({
        id: z.string(),
        vmType: z.string(),
        status: z
          .enum(["reachable", "unreachable", "unknown", "unsupported"])
          .describe(
            "`unknown`: Hyperliquid or Lighter, which are only queried for transactions, and have not been queried yet. `unsupported`: this build cannot read the chain family.",
          ),
        problem,
        finalBlock,
        lastAnswerSecondsAgo: count
          .nullable()
          .describe(
            "Seconds since a node of the chain last answered; null if none has since the process started.",
          ),
      }),
    ),
    checkedSecondsAgo: count.describe("Age of this report, which is cached for some seconds."),
  })
  .meta({ id: "OracleStatus" });

export type OracleStatus = z.infer<typeof oracleStatus>;

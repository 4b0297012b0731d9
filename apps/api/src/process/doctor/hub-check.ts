import { formatAmount, type Address } from "@causeway/domain";
import { findingsOf, type Finding, type Gathered } from "./finding.ts";

/** Facts from the hub. Undefined: the call reverted. */
export interface HubFacts {
  readonly contracts: readonly {
    readonly field: string;
    readonly address: Address;
    readonly hasCode: boolean;
  }[];
  /** The ledger that the oracle contract writes to. */
  readonly oracleHub: Address | undefined;
  /** Whether the oracle contract may write to the hub. */
  readonly canOracleMint: boolean | undefined;
  /** Whether the oracle contract accepts signatures that the multisig accepts. */
  readonly isMultisigOracle: boolean | undefined;
  readonly signers: readonly Address[] | undefined;
  readonly threshold: number | undefined;
  readonly solverWei: bigint;
}

export interface ExpectedHub {
  /** Host and port of the endpoint that was read. */
  readonly host: string;
  readonly hubAddress: Address;
  /** Signers that the service counts; undefined: all signers of the hub. */
  readonly oracleSigners: readonly Address[] | undefined;
  /** Number of oracles in ORACLE_URLS. */
  readonly oracles: number;
}

export function judgeHub(expected: ExpectedHub, gathered: Gathered<HubFacts>): readonly Finding[] {
  const on = (check: string, subject = expected.host) => findingsOf(`hub.${check}`, subject);
  if (gathered.kind === "unreachable")
    return [
      on("contracts").problem({
        found: `the contracts of the hub could not be read (${gathered.reason})`,
        why: "the service reads them too, so nothing is settled",
        remedy: "run doctor again; if it persists, use another endpoint of the hub",
      }),
    ];
  const { facts } = gathered;
  const missing = facts.contracts.filter(({ hasCode }) => !hasCode);
  const has = (field: string): boolean => !missing.some((contract) => contract.field === field);
  const roles = on("roles", "oracle contract");
  const verify = "npm run operator -- deploy verify --hub compares the contracts with the plan";
  const oracleProblems = [
    ...(facts.oracleHub === expected.hubAddress
      ? []
      : [`it writes to ${facts.oracleHub ?? "an unknown hub"}, expected ${expected.hubAddress}`]),
    ...(facts.canOracleMint === false ? ["it may not write to the hub"] : []),
    ...(facts.isMultisigOracle === false ? ["it does not accept the multisig's signatures"] : []),
  ];
  return [
    ...missing.map(({ field, address }) =>
      on("code", field).problem({
        found: `there is no contract at ${address}`,
        why: "nothing is settled",
        remedy: `correct ${field} in the hub's file, or deploy it: npm run operator -- deploy apply --hub`,
      }),
    ),
    ...(!has("oracleAddress")
      ? []
      : oracleProblems.length > 0
        ? [
            roles.problem({
              found: oracleProblems.join("; "),
              why: "every settlement reverts",
              remedy: verify,
            }),
          ]
        : [roles.ok("writes to the hub with the multisig's signatures")]),
    ...(has("oracleMultisigAddress") ? judgeQuorum(expected, facts, verify) : []),
    facts.solverWei === 0n
      ? on("balance", "solver").problem({
          found: "the solver has no native token on the hub",
          why: "the transactions that settle its payments cannot be sent",
          remedy: "send native token to the solver's account on the hub",
        })
      : on("balance", "solver").ok(`${formatAmount(facts.solverWei, 18)} native token`),
  ];
}

function judgeQuorum(
  { oracleSigners, oracles }: ExpectedHub,
  { signers, threshold }: HubFacts,
  verify: string,
): readonly Finding[] {
  const quorum = findingsOf("hub.quorum", "multisig");
  if (signers === undefined || threshold === undefined)
    return [
      quorum.problem({
        found: "the contract reports no signers or no threshold",
        why: "no signature can be counted, so nothing is settled",
        remedy: verify,
      }),
    ];
  const unknown = (oracleSigners ?? []).filter((signer) => !signers.includes(signer));
  const counted = oracleSigners?.filter((signer) => signers.includes(signer)) ?? signers;
  return [
    counted.length < threshold
      ? quorum.problem({
          found: `${counted.length} signers count, and the hub needs ${threshold} signatures`,
          why: "no settlement reaches the quorum",
          remedy: "add the signers of the hub to ORACLE_SIGNERS, or unset it",
        })
      : quorum.ok(`${threshold} of ${counted.length} signers, ${oracles} oracles configured`),
    ...unknown.map((signer) =>
      findingsOf("hub.signer", signer).warning({
        found: "ORACLE_SIGNERS names an account that is not a signer of the hub",
        why: "its signatures never count",
        remedy: "remove it from ORACLE_SIGNERS, or add it to the multisig with setSigners from its owner",
      }),
    ),
  ];
}

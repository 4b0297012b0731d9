import { findingsOf, type Finding, type Gathered } from "./finding.ts";
import type { OracleStatus } from "@causeway/wire";

/** The answer of an oracle to `GET /status/v1`. */
export type OracleFacts =
  | { readonly kind: "status"; readonly status: OracleStatus }
  /** An HTTP status other than 200. */
  | { readonly kind: "refused"; readonly httpStatus: number };

export interface QueriedOracle {
  readonly host: string;
  readonly gathered: Gathered<OracleFacts>;
}

export interface ExpectedOracle {
  readonly hubChainId: number | undefined;
  /** Enabled chains, by name. */
  readonly chains: readonly string[];
}

export function judgeOracles(
  oracles: readonly QueriedOracle[],
  expected: ExpectedOracle,
): readonly Finding[] {
  if (oracles.length === 0)
    return [
      findingsOf("oracle", "ORACLE_URLS").warning({
        found: "no oracle is configured",
        why: "nothing is settled: the solver is not repaid for its fills",
        remedy: "set ORACLE_URLS and the hub's file, or leave it if you do not settle",
      }),
    ];
  return oracles.flatMap((oracle) => judgeOracle(oracle, expected));
}

function judgeOracle({ host, gathered }: QueriedOracle, expected: ExpectedOracle): readonly Finding[] {
  const on = (check: string) => findingsOf(`oracle.${check}`, host);
  if (gathered.kind === "unreachable")
    return [
      on("reachable").problem({
        found: `the oracle does not answer (${gathered.reason})`,
        why: "settlement asks the next oracle, and stops when there is none",
        remedy: "start the oracle, or correct its entry in ORACLE_URLS",
      }),
    ];
  if (gathered.facts.kind === "refused") {
    const { httpStatus } = gathered.facts;
    const isKeyProblem = httpStatus === 401 || httpStatus === 403;
    return [
      on("access").problem({
        found: `the oracle answers with HTTP status ${httpStatus}`,
        why: "it attests nothing for this service",
        remedy: isKeyProblem
          ? "correct the API key after the | in ORACLE_URLS"
          : "correct the URL in ORACLE_URLS: it is the base URL, without a path",
      }),
    ];
  }
  const { shadow, hub, quorum, chains } = gathered.facts.status;
  const attested = new Map(chains.map((chain) => [chain.id, chain]));
  return [
    on("reachable").ok("the oracle answers"),
    ...(shadow
      ? [
          on("shadow").problem({
            found: "the oracle runs in shadow mode",
            why: "its answers are ignored",
            remedy: "turn shadow mode off in the oracle's environment (docs/ORACLE.md), or remove the oracle",
          }),
        ]
      : []),
    ...(expected.hubChainId !== undefined && hub.chainId !== expected.hubChainId
      ? [
          on("hub").problem({
            found: `the oracle signs for a hub on chain ${hub.chainId}, expected ${expected.hubChainId}`,
            why: "the hub refuses its signatures",
            remedy: "configure the same hub for the service and the oracle (HUB_CHAIN_ID)",
          }),
        ]
      : []),
    ...(hub.multisig?.isSigner === false
      ? [
          on("signer").problem({
            found: "the oracle's account is not a signer of the hub's multisig",
            why: "its signatures do not count",
            remedy: "call setSigners on the multisig from its owner, with the oracle's account",
          }),
        ]
      : []),
    ...(hub.multisig !== null && quorum.threshold < hub.multisig.threshold
      ? [
          on("quorum").problem({
            found: `the oracle stops at ${quorum.threshold} signatures, and the hub needs ${hub.multisig.threshold}`,
            why: "its answers have too few signatures, so nothing is settled",
            remedy: `set ORACLE_SIGNERS_THRESHOLD=${hub.multisig.threshold} in the oracle's environment`,
          }),
        ]
      : []),
    ...expected.chains.flatMap((name) => judgeAttested(host, name, attested.get(name))),
  ];
}

function judgeAttested(
  host: string,
  name: string,
  chain: OracleStatus["chains"][number] | undefined,
): readonly Finding[] {
  const attested = findingsOf("oracle.chain", `${name} at ${host}`);
  if (chain === undefined || chain.status === "unsupported")
    return [
      attested.problem({
        found: `the oracle does not attest ${name}`,
        why: "payments from or to this chain are not settled",
        remedy: `enable ${name} in the oracle's environment`,
      }),
    ];
  return chain.status === "unreachable"
    ? [
        attested.warning({
          found: `the oracle cannot reach ${name}${chain.problem === undefined ? "" : ` (${chain.problem})`}`,
          why: "settlement of payments on this chain waits",
          remedy: `check the RPC URL of ${name} in the oracle's environment`,
        }),
      ]
    : [];
}

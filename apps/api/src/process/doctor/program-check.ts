import { canHaveKey, NO_OWNER, type DepositoryFacts } from "@causeway/chains/solana-deployment";
import { findingsOf, type Finding, type Gathered } from "./finding.ts";

/** The depository program of a Solana chain as it is configured. Accounts are in base58. */
export interface ExpectedProgram {
  readonly chain: string;
  readonly program: string;
  readonly isLocal: boolean;
  /** Endpoints that must agree. */
  readonly quorum: number;
  /** The solver's account. */
  readonly solver: string;
  /**
   * The expected roles. Undefined: not configured. An undefined account means that no account may have the
   * role.
   */
  readonly roles:
    | {
        readonly upgradeAuthority: string | undefined;
        readonly owner: string | undefined;
        readonly allocator: string;
      }
    | undefined;
}

/** The program as one endpoint shows it. */
export interface ShownProgram {
  /** Host and port of its URL. */
  readonly host: string;
  readonly gathered: Gathered<DepositoryFacts>;
}

/**
 * Findings about a depository program. A fault is a problem, unless a quorum of endpoints shows the program
 * without faults: then the faulty endpoint gets a warning.
 */
export function judgeProgram(expected: ExpectedProgram, shown: readonly ShownProgram[]): readonly Finding[] {
  const judged = shown.map(({ host, gathered }) => ({ host, findings: judgeShown(expected, gathered) }));
  const faultsOf = (findings: readonly Finding[]): readonly Finding[] =>
    findings.filter(({ state }) => state === "problem");
  const clean = judged.filter(({ findings }) => faultsOf(findings).length === 0);
  const faulty = judged.filter(({ findings }) => faultsOf(findings).length > 0);
  const [best] = clean;
  if (best !== undefined && (clean.length >= expected.quorum || faulty.length === 0))
    return [
      ...best.findings,
      ...faulty.map(({ host, findings }) =>
        findingsOf("contract.endpoint", `depository on ${expected.chain} (${host})`).warning({
          found: `${faultsOf(findings)[0]?.found ?? ""}, unlike at ${clean.length} other endpoints`,
          why: "the endpoint is behind or serves wrong data, and counts in the quorum that decides about payments",
          remedy: `replace ${host} in httpRpcUrl of ${expected.chain}`,
        }),
      ),
    ];
  const hosts = Map.groupBy(
    faulty.flatMap(({ host, findings }) => faultsOf(findings).map((finding) => ({ host, finding }))),
    ({ finding }) => `${finding.check} ${finding.found}`,
  );
  return [...hosts.values()].flatMap((group) =>
    group.slice(0, 1).map(({ finding }) => ({
      ...finding,
      found: `${finding.found} (${group.map(({ host }) => host).join(", ")})`,
    })),
  );
}

function judgeShown(expected: ExpectedProgram, gathered: Gathered<DepositoryFacts>): readonly Finding[] {
  const { chain, program } = expected;
  const subject = `depository on ${chain}`;
  const code = findingsOf("contract.code", subject);
  if (gathered.kind === "unreachable")
    return [
      code.problem({
        found: `program ${program} could not be read (${gathered.reason})`,
        why: "it is unknown whether deposits can be paid out",
        remedy: "run doctor again; if it persists, use another endpoint",
      }),
    ];
  const { facts } = gathered;
  if (facts.kind === "missing")
    return [
      code.problem({
        found: `there is no program at ${program}`,
        why: "deposits on this chain fail",
        remedy: `correct depository of ${chain}, or deploy it: ${deployCommand(chain)}`,
      }),
    ];
  return [
    facts.difference === undefined
      ? code.ok(`program ${program} works as this version's`)
      : findingsOf("contract.build", subject).problem({
          found: facts.difference,
          why: "the service does not know what the program does: deposits in it may be stolen or lost",
          remedy: `set depositEnabled of ${chain} to false, and correct depository or deploy this version's program: ${deployCommand(chain)} --replace`,
        }),
    judgeAuthority(expected, facts.upgradeAuthority),
    ...judgeRecord(expected, facts),
  ];
}

function judgeAuthority(
  { chain, program, roles, solver, isLocal }: ExpectedProgram,
  current: string | undefined,
): Finding {
  const authority = findingsOf("contract.upgrade-authority", `depository on ${chain}`);
  const why = "the holder of this account can replace the program and take all deposits";
  const transferCommand = `solana program set-upgrade-authority ${program} --new-upgrade-authority <vault of a multisignature wallet>`;
  if (current === undefined)
    return roles?.upgradeAuthority === undefined
      ? authority.ok("the program can never change")
      : authority.warning({
          found: `the program has no upgrade authority, expected ${roles.upgradeAuthority}`,
          why: "the program can never change; the configuration describes another deployment",
          remedy: `correct depositoryRoles.upgradeAuthority of ${chain}, or its depository`,
        });
  if (current === solver)
    return authority.problem({
      found: `the upgrade authority is ${current}, a key of this service`,
      why,
      remedy: transferCommand,
    });
  if (roles !== undefined && current !== roles.upgradeAuthority)
    return authority.problem({
      found: `the upgrade authority is ${current}, expected ${roles.upgradeAuthority ?? "none"}`,
      why,
      remedy:
        roles.upgradeAuthority === undefined
          ? `from that account: solana program set-upgrade-authority ${program} --final; if it is not yours, deploy another program: ${deployCommand(chain)} --replace`
          : `from that account: ${transferCommand}; if it is not yours, deploy another program: ${deployCommand(chain)} --replace`,
    });
  if (isLocal || (roles !== undefined && !canHaveKey(current)))
    return authority.ok(`the upgrade authority is ${current}`);
  return canHaveKey(current)
    ? authority.warning({
        found: `the upgrade authority ${current} is a single key`,
        why,
        remedy: transferCommand,
      })
    : authority.warning({
        found: `the program can be upgraded by ${current}, and the configuration names no upgrade authority`,
        why,
        remedy: `if the account is your multisignature wallet, set depositoryRoles of ${chain} (docs/CONFIG.md); otherwise deploy another program: ${deployCommand(chain)} --replace`,
      });
}

function judgeRecord(
  { chain, program, roles, solver }: ExpectedProgram,
  { record, domain, upgradeAuthority }: Extract<DepositoryFacts, { readonly kind: "deployed" }>,
): readonly Finding[] {
  const subject = `depository on ${chain}`;
  if (record === undefined)
    return [
      findingsOf("contract.initialized", subject).problem({
        found: `program ${program} is not initialized`,
        why: "deposits on this chain fail",
        remedy:
          upgradeAuthority === undefined
            ? `it has no upgrade authority, so it can never be initialized; deploy another one: ${deployCommand(chain)} --replace`
            : `with the key of ${upgradeAuthority} in DEPLOYER_SOLANA_KEY: ${deployCommand(chain)} --program ${program}`,
      }),
    ];
  const redeployRemedy = `correct depository of ${chain}, or deploy another program, because roles cannot change: ${deployCommand(chain)} --replace`;
  const judgeRole = (
    name: "owner" | "allocator",
    expected: string | undefined,
    why: Readonly<Record<"service" | "stranger", string>>,
  ): Finding => {
    const finding = findingsOf(`contract.${name}`, subject);
    const account = record[name];
    if (account === solver)
      return finding.problem({
        found: `the ${name} is ${account}, a key of this service`,
        why: why.service,
        remedy: redeployRemedy,
      });
    return roles === undefined || account === (expected ?? NO_OWNER)
      ? finding.ok(`the ${name} is ${account}`)
      : finding.problem({
          found: `the ${name} is ${account}, expected ${expected ?? "none"}`,
          why: why.stranger,
          remedy: redeployRemedy,
        });
  };
  return [
    judgeRole("owner", roles?.owner, {
      service: "an attacker with this key can take the money at open deposit addresses",
      stranger: "this account can take the money at open deposit addresses",
    }),
    judgeRole("allocator", roles?.allocator, {
      service: "an attacker with this key can take all deposits",
      stranger: "this account can pay out all deposits, and yours cannot",
    }),
    record.domain === domain
      ? findingsOf("contract.domain", subject).ok("the program was initialized for this chain id")
      : findingsOf("contract.domain", subject).problem({
          found: `the domain is ${record.domain}, expected ${domain} for id ${chain}`,
          why: "what the allocator signs for this chain is invalid, so deposits cannot be paid out",
          remedy: `restore the id that the entry had when the program was deployed, or ${redeployRemedy}`,
        }),
  ];
}

function deployCommand(chain: string): string {
  return `npm run operator -- deploy apply --chain ${chain} --owner <vault> --allocator <address> --write configs`;
}

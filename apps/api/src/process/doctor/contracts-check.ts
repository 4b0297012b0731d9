import type { Address, FactoryProblem } from "@causeway/domain";
import { findingsOf, type Finding } from "./finding.ts";

/** Facts from the contracts and tokens of an EVM chain. Undefined: the call reverted. */
export interface ContractsFacts {
  readonly contracts: readonly {
    /** Field of the chain file. */
    readonly field: string;
    readonly address: Address;
    readonly hasCode: boolean;
  }[];
  readonly depositoryOwner: Address | undefined;
  readonly isOwnerContract: boolean;
  readonly depositoryAllocator: Address | undefined;
  readonly receiverSolver: Address | undefined;
  readonly proxyRouter: Address | undefined;
  /** Undefined: as configured, or there is no factory. */
  readonly factoryProblem: FactoryProblem | undefined;
  readonly tokens: readonly {
    readonly symbol: string;
    readonly address: Address;
    readonly hasCode: boolean;
    readonly configuredDecimals: number;
    /** Undefined: the token does not report its decimals. */
    readonly decimals: number | undefined;
  }[];
}

export interface ExpectedContracts {
  readonly chain: string;
  readonly isLocal: boolean;
  readonly solver: Address;
  /** All accounts of the service, including the solver. */
  readonly ownAccounts: readonly Address[];
  readonly router: Address;
}

export function judgeContracts(facts: ContractsFacts, expected: ExpectedContracts): readonly Finding[] {
  const { chain } = expected;
  const missing = facts.contracts.filter(({ hasCode }) => !hasCode);
  const isMissing = (field: string): boolean => missing.some((contract) => contract.field === field);
  return [
    ...missing.map(({ field, address }) =>
      findingsOf("contract.code", `${field} on ${chain}`).problem({
        found: `there is no contract at ${address}`,
        why: "what users send to this address cannot be recovered by the service",
        remedy: `correct contracts.${field} of ${chain}, or deploy it: npm run operator -- deploy apply --chain ${chain}`,
      }),
    ),
    ...(missing.length === 0
      ? [findingsOf("contract.code", chain).ok(`all ${facts.contracts.length} contracts have code`)]
      : []),
    ...(isMissing("depository") ? [] : judgeDepository(facts, expected)),
    ...(isMissing("serviceReceiver") ? [] : [judgeReceiver(facts, expected)]),
    ...(isMissing("approvalProxy") ? [] : [judgeProxy(facts, expected)]),
    ...judgeFactory(facts, chain),
    ...facts.tokens.map((token) => judgeToken(token, chain)),
  ];
}

function judgeDepository(
  { depositoryOwner, isOwnerContract, depositoryAllocator }: ContractsFacts,
  { chain, ownAccounts, isLocal }: ExpectedContracts,
): readonly Finding[] {
  const owner = findingsOf("contract.owner", `depository on ${chain}`);
  const allocator = findingsOf("contract.allocator", `depository on ${chain}`);
  if (depositoryOwner === undefined || depositoryAllocator === undefined)
    return [
      owner.problem({
        found: "the contract reports no owner or no allocator",
        why: "it is not a depository of this version: deposits in it may be lost",
        remedy: `npm run operator -- deploy verify --chain ${chain} compares it with the plan`,
      }),
    ];
  return [
    ownAccounts.includes(depositoryOwner)
      ? owner.problem({
          found: `the owner is ${depositoryOwner}, a key of this service`,
          why: "an attacker with this key can take all deposits",
          remedy: "transfer the ownership to a multisignature wallet (docs/operations/deploy.md)",
        })
      : isOwnerContract || isLocal
        ? owner.ok(`the owner is ${depositoryOwner}`)
        : owner.warning({
            found: `the owner ${depositoryOwner} is an account, not a contract`,
            why: "an attacker with this single key can take all deposits",
            remedy: "transfer the ownership to a multisignature wallet (docs/operations/deploy.md)",
          }),
    ownAccounts.includes(depositoryAllocator)
      ? allocator.problem({
          found: `the allocator is ${depositoryAllocator}, a key of this service`,
          why: "an attacker with this key can take all deposits",
          remedy: "call setAllocator from the owner with a separate key (docs/operations/keys.md)",
        })
      : allocator.ok(`the allocator is ${depositoryAllocator}`),
  ];
}

function judgeReceiver({ receiverSolver }: ContractsFacts, { chain, solver }: ExpectedContracts): Finding {
  const receiver = findingsOf("contract.receiver", `serviceReceiver on ${chain}`);
  return receiverSolver === solver
    ? receiver.ok(`pays ${solver}`)
    : receiver.problem({
        found: `the receiver pays ${receiverSolver ?? "an unknown account"}, expected the solver ${solver}`,
        why: "native tokens that swaps pay to the receiver go to another account",
        remedy: `deploy a receiver for this solver (npm run operator -- deploy apply --chain ${chain} --replace), or correct SOLVER_ADDRESS`,
      });
}

function judgeProxy({ proxyRouter }: ContractsFacts, { chain, router }: ExpectedContracts): Finding {
  const proxy = findingsOf("contract.approval-proxy", `approvalProxy on ${chain}`);
  return proxyRouter === router
    ? proxy.ok(`calls the router ${router}`)
    : proxy.problem({
        found: `the approval proxy calls ${proxyRouter ?? "an unknown router"}, expected ${router}`,
        why: "deposits with swaps and fills with calls revert",
        remedy: `correct contracts.router or contracts.approvalProxy of ${chain}: both must be of one deployment`,
      });
}

function judgeFactory({ factoryProblem }: ContractsFacts, chain: string): readonly Finding[] {
  if (factoryProblem === undefined) return [];
  const factory = findingsOf("contract.factory", `depositAddressFactory on ${chain}`);
  const remedy = "see docs/operations/deposit-addresses.md: set the operator, or configure another factory";
  const { kind, message: found } = factoryProblem;
  return [
    kind === "unsafe"
      ? factory.problem({ found, why: "funds at deposit addresses could be stolen or lost", remedy })
      : factory.warning({
          found,
          why: "no deposit address is issued, and funds at issued ones wait",
          remedy,
        }),
  ];
}

function judgeToken(
  { symbol, address, hasCode, configuredDecimals, decimals }: ContractsFacts["tokens"][number],
  chain: string,
): Finding {
  const token = findingsOf("token", `${symbol} on ${chain}`);
  if (!hasCode)
    return token.problem({
      found: `there is no contract at ${address}`,
      why: "quotes name a token that does not exist on this chain",
      remedy: `correct or remove the token in the chain file`,
    });
  return decimals === configuredDecimals
    ? token.ok(`${decimals} decimals`)
    : token.problem({
        found: `the token has ${decimals ?? "unknown"} decimals, but ${configuredDecimals} are configured`,
        why: "amounts are priced wrongly by powers of ten",
        remedy: `set decimals of ${symbol} in the chain file to what the token reports`,
      });
}

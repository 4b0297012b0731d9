import type { NonEvmHead } from "@causeway/chains";
import { findingsOf, type Finding, type Gathered } from "./finding.ts";

/** The facts that one endpoint of a non-EVM chain serves. */
export type NonEvmEndpointFacts =
  | { readonly kind: "right"; readonly head: NonEvmHead | undefined }
  | { readonly kind: "wrongNetwork"; readonly reason: string };

export interface NonEvmEndpoint {
  /** Host and port of its URL. */
  readonly host: string;
  readonly gathered: Gathered<NonEvmEndpointFacts>;
}

/** A non-EVM chain and how it is configured. */
export interface ExpectedNonEvmChain {
  readonly name: string;
  readonly nativeSymbol: string;
  readonly blockTimeSeconds: number;
  /** How many endpoints must agree about the outcome of a payment. */
  readonly quorum: number;
}

/** Facts from a non-EVM chain. */
export interface NonEvmFacts {
  /** The solver's balance of the native currency, in base units. */
  readonly nativeBalance: bigint;
  /** Why the program of deposit addresses cannot be trusted. Undefined: it can, or there is none. */
  readonly addressProblem: string | undefined;
}

/** The same limit as the service applies to lagging endpoints (`endpoint-order.ts`). */
const MAX_BEHIND_SECONDS = 30;
const MIN_MAX_BEHIND_BLOCKS = 2;

/** Findings about each endpoint, and whether enough of them are usable. */
export function judgeNonEvmEndpoints(
  { name, blockTimeSeconds, quorum }: ExpectedNonEvmChain,
  endpoints: readonly NonEvmEndpoint[],
): readonly Finding[] {
  const heads = endpoints.map(({ gathered }) =>
    gathered.kind === "facts" && gathered.facts.kind === "right" ? gathered.facts.head : undefined,
  );
  const lags = heads.map((head) => lagOf(head, heads, blockTimeSeconds));
  const answering = endpoints.filter(isUsable).length;
  const usable = endpoints.filter(
    (endpoint, index) => isUsable(endpoint) && lags[index] === undefined,
  ).length;
  const counted = `${usable} of ${endpoints.length} endpoints are usable`;
  const onQuorum = findingsOf("chain.quorum", name);
  return [
    ...endpoints.flatMap((endpoint, index) => {
      const subject = `${name} (${endpoint.host})`;
      const lag = lags[index];
      return [
        ...judgeEndpoint(name, subject, endpoint.gathered),
        ...(lag === undefined
          ? []
          : [
              findingsOf("chain.lag", subject).warning({
                found: lag,
                why: "deposits are seen late, and payments wait for the slowest endpoint that counts",
                remedy: "check which of the two is right, and replace the other endpoint",
              }),
            ]),
      ];
    }),
    usable >= quorum
      ? onQuorum.ok(`${counted}, ${quorum} needed`)
      : // A warning if only lagging endpoints are missing: they may catch up, or the endpoint that is ahead may be wrong.
        onQuorum[answering < quorum ? "problem" : "warning"]({
          found: `${counted}, and ${quorum} must agree`,
          why: "payments on this chain keep their status, because their outcome is not known",
          remedy: `correct the endpoints of ${name} above, or add more to httpRpcUrl`,
        }),
  ];
}

/** Whether the endpoint answers and serves the right network, even if it lags. */
export function isUsable({ gathered }: Pick<NonEvmEndpoint, "gathered">): boolean {
  return gathered.kind === "facts" && gathered.facts.kind === "right";
}

function judgeEndpoint(
  name: string,
  subject: string,
  gathered: Gathered<NonEvmEndpointFacts>,
): readonly Finding[] {
  if (gathered.kind === "unreachable")
    return [
      findingsOf("chain.reachable", subject).problem({
        found: `the endpoint does not answer (${gathered.reason})`,
        why: "the service reads and pays on this chain through its endpoints",
        remedy: `start the node, or correct the RPC URL of ${name} and its key`,
      }),
    ];
  if (gathered.facts.kind === "wrongNetwork")
    return [
      findingsOf("chain.network", subject).problem({
        found: gathered.facts.reason,
        why: "the processes refuse the endpoint: money must not reach the wrong chain",
        remedy: `set the RPC URL of ${name} to a node of the configured network`,
      }),
    ];
  return [findingsOf("chain.reachable", subject).ok("the endpoint answers")];
}

/** How far an endpoint is behind the most advanced endpoint. Undefined: within the limit. */
function lagOf(
  endpointHead: NonEvmHead | undefined,
  heads: readonly (NonEvmHead | undefined)[],
  blockTimeSeconds: number,
): string | undefined {
  if (endpointHead === undefined) return undefined;
  const behind = heads.reduce((max, head) => {
    const distance = (head?.position ?? 0n) - endpointHead.position;
    return distance > max ? distance : max;
  }, 0n);
  if (endpointHead.number === undefined) {
    // Without a block number, the position is the chain's clock in ms.
    const seconds = behind / 1000n;
    return seconds > MAX_BEHIND_SECONDS
      ? `its clock is ${seconds} seconds behind that of another endpoint of this chain`
      : undefined;
  }
  const maxBehind = Math.max(MIN_MAX_BEHIND_BLOCKS, Math.ceil(MAX_BEHIND_SECONDS / blockTimeSeconds));
  return behind > maxBehind
    ? `block ${endpointHead.number} is ${behind} behind another endpoint of this chain`
    : undefined;
}

/** Findings about the solver's account and the program of deposit addresses. */
export function judgeNonEvmAccount(
  { name, nativeSymbol }: Pick<ExpectedNonEvmChain, "name" | "nativeSymbol">,
  gathered: Gathered<NonEvmFacts>,
): readonly Finding[] {
  const balance = findingsOf("account.balance", `solver on ${name}`);
  if (gathered.kind === "unreachable")
    return [
      balance.problem({
        found: `the balances of the solver could not be read (${gathered.reason})`,
        why: "the service reads them too, so quotes and payments on this chain fail",
        remedy: `run doctor again; if it persists, use another endpoint or explorer for ${name}`,
      }),
    ];
  return [
    gathered.facts.nativeBalance === 0n
      ? balance.warning({
          found: `the solver has no ${nativeSymbol}`,
          why: "fills and refunds in it wait, and so do all payments where it pays the network fee",
          remedy: `send ${nativeSymbol} to the solver's account on ${name} (docs/operations/money.md)`,
        })
      : balance.ok(`${gathered.facts.nativeBalance} base units of ${nativeSymbol}`),
    ...judgeAddressProgram(name, gathered.facts.addressProblem),
  ];
}

function judgeAddressProgram(name: string, problem: string | undefined): readonly Finding[] {
  if (problem === undefined) return [];
  return [
    findingsOf("contract.factory", `depositAddressProgram on ${name}`).problem({
      found: problem,
      why: "funds at deposit addresses could be stolen or lost, so none is issued and sweeps wait",
      remedy: `correct depositAddressProgram of ${name}, or deploy it: npm run operator -- deploy apply --chain ${name} --deposit-addresses --write configs`,
    }),
  ];
}

import { findingsOf, type Finding, type Gathered } from "./finding.ts";

/** Facts from one RPC endpoint of an EVM chain. */
export interface EndpointFacts {
  readonly chainId: bigint;
  readonly height: number;
  /** Timestamp of the newest block, ms since epoch. */
  readonly blockAtMs: number;
  readonly isSyncing: boolean;
}

export interface Endpoint {
  /** Host and port of its URL. */
  readonly host: string;
  readonly gathered: Gathered<EndpointFacts>;
}

/** An EVM chain and how it is configured. */
export interface ExpectedChain {
  readonly name: string;
  readonly chainId: number;
  readonly blockTimeSeconds: number;
  /** How many endpoints must agree on reads that decide about money. */
  readonly quorum: number;
  /** The chain may have no new block for a long time: a local chain has blocks only with transactions. */
  readonly isQuiet: boolean;
}

const MIN_STALE_SECONDS = 60;
const STALE_BLOCKS = 20;

/** @param nowMs ms since epoch */
export function judgeChain(
  expected: ExpectedChain,
  endpoints: readonly Endpoint[],
  nowMs: number,
): readonly Finding[] {
  const usable = endpoints.flatMap(({ gathered }) =>
    gathered.kind === "facts" && isUsable(gathered.facts, expected) ? [gathered.facts] : [],
  );
  const newest = Math.max(0, ...usable.map(({ height }) => height));
  return [
    ...endpoints.flatMap((endpoint) => judgeEndpoint(expected, endpoint, newest, nowMs)),
    usable.length < expected.quorum
      ? findingsOf("chain.quorum", expected.name).problem({
          found: `${usable.length} of ${endpoints.length} endpoints are usable, and ${expected.quorum} must agree`,
          why: "deposits on this chain are not seen, and nothing is paid there",
          remedy: `correct the endpoints of ${expected.name} above, add more to httpRpcUrl, or lower rpcQuorum`,
        })
      : findingsOf("chain.quorum", expected.name).ok(
          `${usable.length} of ${endpoints.length} endpoints are usable, ${expected.quorum} needed`,
        ),
  ];
}

function isUsable({ chainId, isSyncing }: EndpointFacts, expected: ExpectedChain): boolean {
  return chainId === BigInt(expected.chainId) && !isSyncing;
}

function judgeEndpoint(
  { name, chainId, blockTimeSeconds, isQuiet }: ExpectedChain,
  { host, gathered }: Endpoint,
  newest: number,
  nowMs: number,
): readonly Finding[] {
  const subject = `${name} (${host})`;
  const on = (check: string) => findingsOf(`chain.${check}`, subject);
  if (gathered.kind === "unreachable")
    return [
      on("reachable").problem({
        found: `the endpoint does not answer (${gathered.reason})`,
        why: "the service reads and pays on this chain through its endpoints",
        remedy: `start the node, or correct the RPC URL of ${name} and its key`,
      }),
    ];
  const { facts } = gathered;
  if (facts.chainId !== BigInt(chainId))
    return [
      on("chain-id").problem({
        found: `the endpoint serves chain ${facts.chainId}, expected ${chainId}`,
        why: "the processes refuse the endpoint: money must not reach the wrong chain",
        remedy: `set the RPC URL of ${name} to a node of chain ${chainId}`,
      }),
    ];
  if (facts.isSyncing)
    return [
      on("syncing").problem({
        found: `the node is syncing, at block ${facts.height}`,
        why: "deposits are seen late, and balances are those of an old block",
        remedy: "wait until eth_syncing is false, or use another endpoint",
      }),
    ];
  const ageSeconds = Math.floor((nowMs - facts.blockAtMs) / 1000);
  const staleSeconds = Math.max(MIN_STALE_SECONDS, Math.ceil(blockTimeSeconds * STALE_BLOCKS));
  const behind = newest - facts.height;
  const maxBehind = Math.max(5, Math.ceil(MIN_STALE_SECONDS / blockTimeSeconds));
  const fresh = `chain ${chainId}, block ${facts.height}`;
  return [
    on("chain-id").ok(fresh),
    ageSeconds > staleSeconds && !isQuiet
      ? on("head").problem({
          found: `the newest block is ${ageSeconds} seconds old, expected at most ${staleSeconds}`,
          why: "the node lags: deposits are seen late",
          remedy: "check the peers and the disk of the node, or use another endpoint",
        })
      : on("head").ok(`${fresh}, ${Math.max(0, ageSeconds)} seconds old`),
    ...(behind > maxBehind
      ? [
          on("lag").warning({
            found: `block ${facts.height} is ${behind} behind another endpoint of this chain`,
            why: "reads that need a quorum wait for the slowest endpoint that counts",
            remedy: "check the node, or replace the endpoint",
          }),
        ]
      : []),
  ];
}

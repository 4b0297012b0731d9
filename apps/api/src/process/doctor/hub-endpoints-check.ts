import type { Endpoint } from "./chain-check.ts";
import { findingsOf, type Finding } from "./finding.ts";

export interface ExpectedHubEndpoints {
  readonly chainId: number;
  /** How many endpoints must agree about receipts and nonces. */
  readonly quorum: number;
}

/**
 * An endpoint lags if another endpoint is more blocks ahead. A fixed number, because the hub's block time is
 * not configured.
 */
const MAX_BEHIND_BLOCKS = 60;

/** Findings about each endpoint of the hub, and whether enough of them are usable. */
export function judgeHubEndpoints(
  { chainId, quorum }: ExpectedHubEndpoints,
  endpoints: readonly Endpoint[],
): readonly Finding[] {
  const usable = endpoints.filter((endpoint) => isUsableHub(chainId, endpoint));
  const newest = Math.max(
    0,
    ...usable.flatMap(({ gathered }) => (gathered.kind === "facts" ? [gathered.facts.height] : [])),
  );
  const counted = `${usable.length} of ${endpoints.length} endpoints are usable`;
  const onQuorum = findingsOf("hub.rpc-quorum", "hub");
  return [
    ...endpoints.map((endpoint) => judgeEndpoint(chainId, endpoint, newest)),
    usable.length < quorum
      ? onQuorum.problem({
          found: `${counted}, and ${quorum} must agree`,
          why: "nothing is settled: the solver is not repaid for its fills",
          remedy: "correct the endpoints of the hub above, or add more to httpRpcUrl in the hub's file",
        })
      : onQuorum.ok(`${counted}, ${quorum} needed`),
  ];
}

export function isUsableHub(chainId: number, { gathered }: Endpoint): boolean {
  return gathered.kind === "facts" && gathered.facts.chainId === BigInt(chainId) && !gathered.facts.isSyncing;
}

function judgeEndpoint(chainId: number, { host, gathered }: Endpoint, newest: number): Finding {
  const on = (check: string) => findingsOf(`hub.${check}`, host);
  if (gathered.kind === "unreachable")
    return on("reachable").problem({
      found: `the endpoint does not answer (${gathered.reason})`,
      why: "the service settles through the endpoints of the hub",
      remedy: "start the hub's node, or correct its URL in HUB_RPC_URL or the hub's file",
    });
  const { chainId: actualChainId, height, isSyncing } = gathered.facts;
  if (actualChainId !== BigInt(chainId))
    return on("chain-id").problem({
      found: `the endpoint serves chain ${actualChainId}, expected ${chainId}`,
      why: "the processes refuse the endpoint, so it settles nothing",
      remedy: "correct HUB_RPC_URL and HUB_CHAIN_ID, or the hub's file",
    });
  if (isSyncing)
    return on("syncing").problem({
      found: `the node is syncing, at block ${height}`,
      why: "settlements are seen late",
      remedy: "wait until eth_syncing is false, or use another endpoint",
    });
  const behind = newest - height;
  return behind > MAX_BEHIND_BLOCKS
    ? on("lag").warning({
        found: `block ${height} is ${behind} behind another endpoint of the hub`,
        why: "settlements wait for the slowest endpoint that counts",
        remedy: "check the node, or replace the endpoint",
      })
    : on("reachable").ok(`chain ${chainId}, block ${height}`);
}

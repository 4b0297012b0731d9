import { formatEther, isHex, parseEther, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { deployerWei } from "./deploy-in-order.ts";
import { ensureDeterministicDeployer } from "./deterministic-deployer.ts";
import { requiredWei, type Funding } from "./fund.ts";
import {
  ANSWER_WITHIN_MS,
  createLocalClient,
  ExternalServiceUnusable,
  externalUrl,
  tryExternal,
  type ExternalService,
  type NodeAddress,
} from "@causeway/testkit";

type Environment = Readonly<Record<string, string | undefined>>;

/** A running node, started by the operator, that serves one of the local chains. */
export interface ExternalNode {
  readonly variable: ExternalService;
  readonly url: string;
  readonly wsUrl: string;
  /**
   * Pays for contracts and accounts. Such a node never receives requests to mine or to set balances or the
   * time.
   */
  readonly fundingKey: Hex;
}

const variables = [
  { chain: "local-a", rpc: "LOCAL_A_RPC_URL", ws: "LOCAL_A_WS_URL" },
  { chain: "local-b", rpc: "LOCAL_B_RPC_URL", ws: "LOCAL_B_WS_URL" },
] as const;

/**
 * The external nodes by chain name. Does not connect.
 *
 * @throws ExternalServiceUnusable if a required variable is missing or malformed
 */
export function readExternalNodes(env: Environment): ReadonlyMap<string, ExternalNode> {
  const nodes = new Map<string, ExternalNode>();
  for (const { chain, rpc, ws } of variables) {
    const url = externalUrl(env, rpc);
    const wsUrl = externalUrl(env, ws);
    if (url === undefined && wsUrl !== undefined)
      throw new ExternalServiceUnusable(ws, `requires ${rpc}; set both`);
    if (url === undefined) continue;
    const fundingKey = readFundingKey(env, rpc);
    nodes.set(chain, { variable: rpc, url, wsUrl: wsUrl ?? url.replace(/^http/, "ws"), fundingKey });
  }
  return nodes;
}

function readFundingKey(env: Environment, rpc: string): Hex {
  const key = env["LOCAL_FUNDING_PRIVATE_KEY"] ?? "";
  if (isHex(key) && key.length === 66) return key;
  const actual = key === "" ? "is not set" : "has a different format";
  throw new ExternalServiceUnusable(
    "LOCAL_FUNDING_PRIVATE_KEY",
    `must be 0x and 64 hex digits when ${rpc} is set, but ${actual}; set the key of a funded account`,
  );
}

/** The services' environment variables for the external nodes. */
export function externalNodeEnvironment(nodes: ReadonlyMap<string, ExternalNode>): Record<string, string> {
  return Object.fromEntries(
    variables.flatMap(({ chain, rpc, ws }) => {
      const node = nodes.get(chain);
      return node === undefined
        ? []
        : [
            [rpc, node.url],
            [ws, node.wsUrl],
          ];
    }),
  );
}

/** Wei for the gas of all startup transactions. */
const gasWei = parseEther("20");

/** Copies `length` 0 bytes with MCOPY: an invalid instruction before Cancun. */
const usesMcopy: Hex = "0x5f5f5f5e00";

/**
 * Checks that the contracts can be deployed on an external node, and creates the deterministic deployer if it
 * is missing.
 *
 * @throws ExternalServiceUnusable if the node does not respond, serves another chain, runs a hard fork
 * older than Cancun, has contracts from an earlier run, or if the key has insufficient funds
 */
export async function prepareExternalNode(
  { variable, url, fundingKey }: ExternalNode,
  chainId: number,
  fundings: readonly Funding[],
): Promise<NodeAddress> {
  const node = { url, chainId, fundingKey };
  await tryExternal(variable, url, async () => await checkChain(node));
  await checkFunds(node, fundings);
  await tryExternal(variable, url, async () => await ensureDeterministicDeployer(createLocalClient(node)));
  return node;
}

async function checkChain({ url, chainId }: NodeAddress): Promise<void> {
  const actual = Number(await callNode(url, "eth_chainId", []));
  if (actual !== chainId) throw new Error(`chain id of the node is ${actual}, expected ${chainId}`);
  const deployer = localAccount("deployer").address;
  const sent = Number(await callNode(url, "eth_getTransactionCount", [deployer, "latest"]));
  if (sent !== 0)
    throw new Error(
      "chain already has the contracts of an earlier start; start the node with an empty chain",
    );
  await callNode(url, "eth_call", [{ data: usesMcopy }, "latest"]).catch((error: unknown) => {
    throw new Error("the node does not support MCOPY; start it with the Prague hard fork or newer", {
      cause: error,
    });
  });
}

async function checkFunds(
  { url, chainId, fundingKey }: NodeAddress,
  fundings: readonly Funding[],
): Promise<void> {
  if (fundingKey === undefined) return;
  const address: Address = privateKeyToAccount(fundingKey).address;
  const balance = BigInt(String(await callNode(url, "eth_getBalance", [address, "latest"])));
  const neededWei = deployerWei + requiredWei(fundings) + gasWei;
  if (balance >= neededWei) return;
  throw new ExternalServiceUnusable(
    "LOCAL_FUNDING_PRIVATE_KEY",
    `${address} has ${formatEther(balance)} native tokens on chain ${chainId}, needs ${formatEther(neededWei)}; fund it, or use another key`,
  );
}

/**
 * viem's errors quote the URL, which may contain a provider's API key. @throws Error with the node's own
 * message
 */
async function callNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch((error: unknown) => {
    const cause = error instanceof Error ? error.cause : undefined;
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : "timeout";
    throw new Error(`the node does not respond: ${reason}`, { cause: error });
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (typeof answer === "object" && answer !== null) {
    if ("result" in answer) return answer.result;
    if ("error" in answer) throw new Error(`${method}: the node returned ${JSON.stringify(answer.error)}`);
  }
  throw new Error(`${method}: HTTP status ${response.status} without a JSON-RPC response`);
}

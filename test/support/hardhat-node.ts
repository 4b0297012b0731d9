import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { deterministicDeployer } from "@causeway/localnet";
import type { TestNode } from "./test-chain.ts";

/** What stands at the deterministic deployer's address on development nodes that have it from the beginning. */
const DEPLOYER_CODE =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

/**
 * Starts Hardhat's node, whose EVM is independent of anvil's, with the rules of Osaka. It mines when it is told to.
 *
 * The test client steers nodes by anvil's names: a server before the node translates those, and nothing else. Blocks are mined one by one, because
 * the node makes up many at once whose hashes do not fit together.
 */
export async function startHardhatNode(chainId: number): Promise<TestNode> {
  const mining = { auto: false, interval: 0 };
  const common = { type: "edr-simulated", chainType: "l1", hardfork: "osaka" } as const;
  const environment = await createHardhatRuntimeEnvironment({
    networks: { node: { ...common, accounts: [], chainId, mining, blockGasLimit: 30_000_000 } },
  });
  const node = await environment.network.createServer("node", "127.0.0.1", 0);
  const { port: nodePort } = await node.listen();
  const nodeUrl = `http://127.0.0.1:${nodePort}`;
  const front = createServer((request, response) => {
    textOf(request)
      .then(async (body) => {
        const document = JSON.parse(body) as Call | Call[];
        const translated: Call[] = [];
        for (const asked of [document].flat()) translated.push(await translate(nodeUrl, asked));
        const answer = await post(nodeUrl, Array.isArray(document) ? translated : translated[0]);
        response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const { port } = front.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const set = await call(url, "hardhat_setCode", [deterministicDeployer, DEPLOYER_CODE]);
  if (set !== true) throw new Error("Hardhat's node did not take the deterministic deployer");
  return {
    url,
    chainId,
    stop: async () => {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      await node.close();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

interface Call {
  readonly method: string;
  readonly params?: readonly unknown[];
}

async function translate(nodeUrl: string, asked: Call): Promise<Call> {
  if (asked.method === "anvil_mine") {
    const blocks = Number(asked.params?.[0] ?? 1);
    for (let block = 1; block < blocks; block++) await call(nodeUrl, "evm_mine", []);
    return { ...asked, method: "evm_mine", params: [] };
  }
  return { ...asked, method: asked.method.replace(/^anvil_/, "hardhat_") };
}

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await post(url, { jsonrpc: "2.0", id: 1, method, params });
  const document: unknown = await answer.json();
  return typeof document === "object" && document !== null && "result" in document
    ? document.result
    : undefined;
}

async function post(url: string, document: unknown): Promise<Response> {
  const body = JSON.stringify(document);
  return await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
}

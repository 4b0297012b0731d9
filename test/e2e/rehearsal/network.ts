import { testUsdAbi, testUsdBytecode } from "@causeway/contracts";
import {
  newTempDir,
  startAnvil,
  startPostgres,
  startRedis,
  startTogether,
  stopTogether,
  type RunningAnvil,
  type RunningPostgres,
  type RunningRedis,
} from "@causeway/testkit";
import { startKms, type RunningKms } from "@causeway/simulators/kms";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Address } from "viem";
import { sendFrom, treasury } from "./money.ts";

/** Everything that exists before an operator starts. No contract of this project is deployed. */
export interface Network {
  readonly ethereum: RunningAnvil;
  readonly base: RunningAnvil;
  /** The chain that becomes the hub. */
  readonly hub: RunningAnvil;
  /** The USDC token, at the same address on Ethereum and Base. */
  readonly usdc: Address;
  /** A contract that acts as a multisig wallet, at the same address on every chain. */
  readonly multisig: Address;
  /** A server with CoinGecko's API, which also receives notifications. */
  readonly thirdPartyUrl: string;
  /** Alert notifications received so far. */
  readonly notices: readonly object[];
  readonly postgres: RunningPostgres;
  readonly redis: RunningRedis;
  readonly kms: RunningKms;
  stop(): Promise<void>;
}

const HUB_CHAIN_ID = 720_042;
const PRICES: Readonly<Record<string, number>> = { ethereum: 2500, "usd-coin": 1 };

/** Starts chains with a block per second, Postgres, Redis, a key service, and third-party services. */
export async function startNetwork(): Promise<Network> {
  const dataDir = newTempDir("rehearsal-postgres");
  const [ethereum, base, hub, postgres, redis, kms, thirdParty] = await startTogether<
    [RunningAnvil, RunningAnvil, RunningAnvil, RunningPostgres, RunningRedis, RunningKms, ThirdParty]
  >([
    startBareChain(1),
    startBareChain(8453),
    startBareChain(HUB_CHAIN_ID),
    startPostgres({ dataDir, removeDataAtStop: true }),
    startRedis({ env: { PATH: process.env["PATH"] } }),
    startKms({ region: "eu-west-1" }),
    startThirdParty(),
  ]);
  const stop = async (): Promise<void> =>
    await stopTogether([ethereum, base, hub, postgres, redis, kms, thirdParty]);
  try {
    await Promise.all([ethereum, base, hub].map(deployPrerequisites));
  } catch (error) {
    await stop();
    throw error;
  }
  const [multisig, usdc] = [0n, 1n].map((nonce) => getContractAddress({ from: treasury.address, nonce }));
  if (multisig === undefined || usdc === undefined) throw new Error("expected two addresses");
  return {
    ethereum,
    base,
    hub,
    usdc,
    multisig,
    thirdPartyUrl: thirdParty.url,
    notices: thirdParty.notices,
    postgres,
    redis,
    kms,
    stop,
  };
}

/**
 * Starts a chain whose blocks are final after two more blocks. Even the deterministic deployer is missing.
 */
async function startBareChain(chainId: number): Promise<RunningAnvil> {
  return await startAnvil({
    chainId,
    blockTimeSeconds: 1,
    extraArgs: ["--slots-in-an-epoch", "1", "--disable-default-create2-deployer"],
  });
}

/** Deploys USDC and the multisig wallet that becomes the owner. */
async function deployPrerequisites(chain: RunningAnvil): Promise<void> {
  const usdc = encodeDeployData({ abi: testUsdAbi, bytecode: testUsdBytecode, args: ["USD Coin", "USDC"] });
  const to = getContractAddress({ from: treasury.address, nonce: 1n });
  const mint = { abi: testUsdAbi, functionName: "mint", args: [treasury.address, 10n ** 12n] } as const;
  await sendFrom(treasury, chain, [
    // The multisig wallet, whose code is one byte.
    { data: "0x6001600c60003960016000f300" },
    { data: usdc },
    { to, data: encodeFunctionData(mint) },
  ]);
}

interface ThirdParty {
  readonly url: string;
  readonly notices: object[];
  stop(): Promise<void>;
}

/** Third-party services: prices in CoinGecko's format, and a receiver of notifications. */
async function startThirdParty(): Promise<ThirdParty> {
  const notices: object[] = [];
  const server = createServer((request, response) => {
    const answer = async (): Promise<object> => {
      if (request.method === "POST") {
        notices.push((await json(request)) as object);
        return {};
      }
      const ids = new URL(request.url ?? "/", "http://localhost").searchParams.get("ids") ?? "";
      const updated = Math.floor(Date.now() / 1000);
      const knownIds = ids.split(",").filter((id) => id in PRICES);
      return Object.fromEntries(knownIds.map((id) => [id, { usd: PRICES[id], last_updated_at: updated }]));
    };
    answer()
      .then((body) => response.setHeader("content-type", "application/json").end(JSON.stringify(body)))
      .catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    notices,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

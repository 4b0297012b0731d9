import type { Chain } from "@causeway/domain";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Address, Hex } from "viem";
import { localAccountAbstraction } from "./account-abstraction.ts";
import type { LocalAccount } from "./accounts.ts";
import { localDexContracts } from "./deploy-dex.ts";
import type { HubContracts } from "./deploy-hub.ts";
import { isPortFree, localnetDir } from "@causeway/testkit";

/** What tools need to use a running system; the content of `.localnet/endpoints.json`. */
export interface Endpoints {
  /** The process that runs the system. */
  readonly pid: number;
  readonly portBase: number;
  /** `wsUrl` is the URL of the API's WebSockets. */
  readonly api: { readonly url: string; readonly wsUrl: string };
  /** All API processes, the first of which is `api`. */
  readonly apiUrls: readonly string[];
  readonly chains: readonly {
    readonly id: number;
    readonly name: string;
    readonly rpcUrl: string;
    readonly contracts: Readonly<Record<string, Address>>;
    readonly tokens: readonly {
      readonly symbol: string;
      readonly address: Address;
      readonly decimals: number;
    }[];
  }[];
  /** The chain on which attested payments are settled. Absent if the system runs without oracles. */
  readonly hub?: HubEndpoint;
  readonly oracles: readonly OracleEndpoint[];
  /** Credentials of an app that sponsors its users. */
  readonly apiKeys: readonly ApiKeyEndpoint[];
  readonly accounts: readonly {
    readonly address: Address;
    readonly privateKey: Hex;
    readonly role: string;
  }[];
}

export interface HubEndpoint {
  readonly id: number;
  readonly name: string;
  readonly rpcUrl: string;
  readonly contracts: Readonly<Record<keyof HubContracts, Address>>;
}

export interface OracleEndpoint {
  readonly url: string;
  /** Address of its signing key. */
  readonly address: Address;
  /** The `x-api-key` that it accepts from tools. */
  readonly apiKey: string;
}

export interface ApiKeyEndpoint {
  readonly id: string;
  /** The `x-api-key` of the app. */
  readonly key: string;
  readonly scopes: readonly string[];
  /** Wallet whose app balance pays for requests with this key. */
  readonly fundingAddress: Address;
}

/** The file that tools read: the system that was started last. */
export const endpointsFile: string = commonFile(localnetDir);

export function describeEndpoints(facts: {
  portBase: number;
  apiUrls: readonly string[];
  chains: readonly Chain[];
  hub?: HubEndpoint | undefined;
  oracles: readonly OracleEndpoint[];
  apiKeys: readonly ApiKeyEndpoint[];
  accounts: readonly LocalAccount[];
}): Endpoints {
  const [url = ""] = facts.apiUrls;
  return {
    pid: process.pid,
    portBase: facts.portBase,
    api: { url, wsUrl: url.replace(/^http/, "ws") },
    apiUrls: facts.apiUrls,
    chains: facts.chains.map(
      ({
        id,
        name,
        rpcUrl,
        tokens,
        contracts: { formerContracts: _, formerDepositories: __, ...contracts },
      }) => ({
        id,
        name,
        rpcUrl,
        contracts: { ...contracts, ...localDexContracts, ...localAccountAbstraction },
        tokens: tokens.map(({ symbol, address, decimals }) => ({ symbol, address, decimals })),
      }),
    ),
    ...(facts.hub === undefined ? {} : { hub: facts.hub }),
    oracles: facts.oracles,
    apiKeys: facts.apiKeys,
    accounts: facts.accounts.map(({ address, privateKey, role }) => ({ address, privateKey, role })),
  };
}

/**
 * Writes the file for tools, and a copy in the system's data folder that remains if another system starts.
 * The variables for `npm run operator` go into a third file that only the owner can read, because the
 * database URL may contain a password.
 */
export async function writeEndpoints(
  endpoints: Endpoints,
  operatorEnvironment: Readonly<Record<string, string>>,
  folder: string = localnetDir,
): Promise<void> {
  const paths = ownFiles(endpoints.portBase, folder);
  await replaceFile(paths.environment, JSON.stringify(operatorEnvironment), 0o600);
  const text = toJson(endpoints);
  for (const file of [paths.endpoints, commonFile(folder)]) await replaceFile(file, text);
}

/**
 * Removes what `writeEndpoints` wrote. If the common file still describes this system, it is rewritten for
 * the newest system that still runs, or removed if none does.
 */
export async function removeEndpoints(endpoints: Endpoints, folder: string = localnetDir): Promise<void> {
  const paths = ownFiles(endpoints.portBase, folder);
  await Promise.all([paths.endpoints, paths.environment].map((file) => rm(file, { force: true })));
  const common = await readEndpoints(commonFile(folder));
  if (common?.pid !== endpoints.pid || common.portBase !== endpoints.portBase) return;
  const [newest] = await runningSystems(folder);
  if (newest === undefined) await rm(commonFile(folder), { force: true });
  else await replaceFile(commonFile(folder), toJson(newest));
}

/** The running system according to the file; undefined without a file. */
export async function readEndpoints(file: string = endpointsFile): Promise<Endpoints | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Endpoints);
}

/**
 * Running systems, the newest first. A killed system leaves its file behind, so only those that listen count.
 */
export async function runningSystems(folder: string = localnetDir): Promise<Endpoints[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d+$/.test(name));
  const candidates = await Promise.all(names.map((name) => runningSystem(Number(name), folder)));
  return candidates
    .filter((endpoint) => endpoint !== undefined)
    .toSorted((a, b) => b.writtenAtMs - a.writtenAtMs)
    .map(({ endpoints }) => endpoints);
}

async function runningSystem(
  portBase: number,
  folder: string,
): Promise<{ endpoints: Endpoints; writtenAtMs: number } | undefined> {
  const file = ownFiles(portBase, folder).endpoints;
  const endpoints = await readEndpoints(file);
  if (endpoints === undefined || (await isPortFree(Number(new URL(endpoints.api.url).port))))
    return undefined;
  const facts = await stat(file).catch(() => undefined);
  return facts === undefined ? undefined : { endpoints, writtenAtMs: facts.mtimeMs };
}

function ownFiles(portBase: number, folder: string): { endpoints: string; environment: string } {
  const paths = join(folder, String(portBase));
  return { endpoints: join(paths, "endpoints.json"), environment: join(paths, "environment.json") };
}

function commonFile(folder: string): string {
  return join(folder, "endpoints.json");
}

function toJson(endpoints: Endpoints): string {
  return `${JSON.stringify(endpoints, undefined, 2)}\n`;
}

/** Readers see the old content or the new one, never a partial file. */
async function replaceFile(file: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const tempFile = `${file}.${process.pid}`;
  await writeFile(tempFile, text, { mode });
  await rename(tempFile, file);
}

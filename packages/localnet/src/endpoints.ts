import type { Chain } from "@causeway/domain";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Address, Hex } from "viem";
import type { LocalAccount } from "./accounts.ts";
import { repositoryRoot } from "./paths.ts";

/** What tools need to use a running system; the content of `.localnet/endpoints.json`. */
export interface Endpoints {
  /** The process that runs the system. */
  readonly pid: number;
  readonly portBase: number;
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
  readonly accounts: readonly {
    readonly address: Address;
    readonly privateKey: Hex;
    readonly role: string;
  }[];
}

/** The file that tools read: the system that was started last. */
export const endpointsFile: string = join(repositoryRoot, ".localnet", "endpoints.json");

export function describeEndpoints(facts: {
  portBase: number;
  apiUrls: readonly string[];
  chains: readonly Chain[];
  accounts: readonly LocalAccount[];
}): Endpoints {
  const [url = ""] = facts.apiUrls;
  return {
    pid: process.pid,
    portBase: facts.portBase,
    api: { url, wsUrl: url.replace(/^http/, "ws") },
    apiUrls: facts.apiUrls,
    chains: facts.chains.map((chain) => ({
      id: chain.id,
      name: chain.name,
      rpcUrl: chain.rpcUrl,
      contracts: { ...chain.contracts },
      tokens: chain.tokens.map(({ symbol, address, decimals }) => ({ symbol, address, decimals })),
    })),
    accounts: facts.accounts.map(({ address, privateKey, role }) => ({ address, privateKey, role })),
  };
}

/** Writes the file for tools, and a copy that stays when another system starts beside this one. */
export async function writeEndpoints(endpoints: Endpoints, ownFile: string): Promise<void> {
  const text = `${JSON.stringify(endpoints, undefined, 2)}\n`;
  for (const file of [ownFile, endpointsFile]) {
    await mkdir(dirname(file), { recursive: true });
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, text);
    await rename(draft, file);
  }
}

/** Removes what `writeEndpoints` wrote; the common file only when it still speaks of this system. */
export async function removeEndpoints(endpoints: Endpoints, ownFile: string): Promise<void> {
  await rm(ownFile, { force: true });
  const common = await readEndpoints();
  if (common?.pid === endpoints.pid && common.portBase === endpoints.portBase)
    await rm(endpointsFile, { force: true });
}

/** The system that runs now, as far as the file tells; undefined when there is no file. */
export async function readEndpoints(file: string = endpointsFile): Promise<Endpoints | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Endpoints);
}

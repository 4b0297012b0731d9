import { loadChains } from "@causeway/config";
import type { Chain } from "@causeway/domain";
import { join } from "node:path";
import { repositoryRoot } from "@causeway/testkit";

/** Default port base of `npm start`. */
export const defaultPortBase = 18_500;

/** Number of ports of a system, from its port base. */
export const portBlock = 26;

/** Whether a port belongs to the system at `base`. */
export function isInPortBlock(port: number, base: number): boolean {
  return port >= base && port < base + portBlock;
}

/** The port of each part of the system at `base`. */
export function portsFrom(base: number) {
  return {
    api: (index: number): number => base + index,
    workerHealth: (index: number): number => base + 5 + index,
    postgres: base + 10,
    redis: base + 11,
    oracle: (index: number): number => base + 12 + index,
    nodeA: base + 20,
    nodeB: base + 21,
    hub: base + 22,
    solana: base + 23,
    bitcoin: base + 24,
    hyperliquid: base + 25,
  };
}

/** The variables that `configs/chains.local.json` requires. */
export function nodeEnvironment(nodes: { portA: number; portB: number }): Record<string, string> {
  return {
    LOCAL_A_RPC_URL: `http://127.0.0.1:${nodes.portA}`,
    LOCAL_A_WS_URL: `ws://127.0.0.1:${nodes.portA}`,
    LOCAL_B_RPC_URL: `http://127.0.0.1:${nodes.portB}`,
    LOCAL_B_WS_URL: `ws://127.0.0.1:${nodes.portB}`,
  };
}

/**
 * The local chains as the services see them: ids, names, contracts and tokens of `configs/chains.local.json`.
 */
export function readLocalChains(env: Readonly<Record<string, string>>): readonly Chain[] {
  return loadChains({ environment: "local", configsDir: join(repositoryRoot, "configs"), env }).chains;
}

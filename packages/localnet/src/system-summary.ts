import { join } from "node:path";
import { endpointsFile } from "./endpoints.ts";
import type { System } from "./system.ts";
import { shortHex, type TerminalStyle } from "./terminal.ts";

/** The parts of a running system to describe. */
export type RunningSystem = Pick<System, "chains" | "endpoints" | "databaseUrl" | "redisUrl" | "folder"> & {
  readonly families: { readonly urls: object } | undefined;
};

const NAME_WIDTH = 15;

/** The final lines of `npm start`: every address, then what a newcomer needs, then next steps. */
export function systemSummary(system: RunningSystem, style: TerminalStyle): readonly string[] {
  const { api, apiKeys, hub, oracles } = system.endpoints;
  const documentation = `${api.url}/documentation`;
  const row = (name: string, text: string): string => style.dim(`  ${name.padEnd(NAME_WIDTH)} ${text}`);
  const important = (name: string, value: string, remark = ""): string =>
    `  ${name.padEnd(NAME_WIDTH)} ${style.bold(value)}${style.dim(remark)}`;
  const command = (text: string, what: string): string => `  ${text.padEnd(45)} ${style.dim(what)}`;
  return [
    ...system.chains.map((chain) => row(chain.displayName, `${chain.rpcUrl}   (chain id ${chain.id})`)),
    ...Object.entries(system.families?.urls ?? {}).map(([name, url]) =>
      row(name, withoutPassword(String(url))),
    ),
    ...(hub === undefined ? [] : [row(hub.name, `${hub.rpcUrl}   (chain id ${hub.id})`)]),
    ...oracles.map(({ url, address }) => row("Oracle", `${url}   (signs as ${shortHex(address)})`)),
    row("Postgres", withoutPassword(system.databaseUrl)),
    row("Redis", withoutPassword(system.redisUrl)),
    row("Logs", join(system.folder, "logs")),
    row("Endpoints file", endpointsFile),
    "",
    important("API", api.url),
    important("Documentation", documentation),
    ...apiKeys.map(({ key }) => important("API key", key, "   of an app that pays for its users")),
    "",
    "Next, in another terminal:",
    command("npm run -s example smart-eoa-bridge", "an account without gas bridges 25 USDC"),
    command("npm run -s example webhook", "your server receives an event when a request changes"),
    command("npm run -s operator -- lanes", "the operator's view of pending payments"),
    command("npm start -- --set RATE_LIMITS=on", "start again with a different setting"),
    "",
    "The system keeps running; press Ctrl-C to stop all of it.",
  ];
}

function withoutPassword(text: string): string {
  const url = new URL(text);
  if (url.password !== "") url.password = "***";
  return url.href;
}

import { readFileSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Bcoin, BcoinNetworks } from "./bcoin-shapes.ts";

/**
 * Packages whose native addons no longer build. The `browser` map in their `package.json` names plain
 * JavaScript replacements.
 */
const COMPILED = new Set(["mrmr", "bstring", "bdb", "bcrypto", "n64"]);

/**
 * Loads bcoin, a full node in JavaScript, without native addons and with the address prefixes of Bitcoin
 * Core's regtest network. It changes module resolution, so use it only in a dedicated process.
 */
export function loadBcoin(): Bcoin {
  const maps = new Map<string, Readonly<Record<string, string>>>();
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (!resolved.url.startsWith("file:")) return resolved;
      const replacement = replacementOf(fileURLToPath(resolved.url), maps);
      return replacement === undefined ? resolved : { ...resolved, url: pathToFileURL(replacement).href };
    },
  });
  const require = createRequire(import.meta.url);
  const networks = require("bcoin/lib/protocol/networks") as BcoinNetworks;
  Object.assign(networks.regtest.addressPrefix, { pubkeyhash: 0x6f, scripthash: 0xc4, bech32: "bcrt" });
  return require("bcoin") as Bcoin;
}

function replacementOf(
  file: string,
  maps: Map<string, Readonly<Record<string, string>>>,
): string | undefined {
  const [, folder, name, path] = /^(.*node_modules\/([^/@]+))\/(.*)\.js$/.exec(file) ?? [];
  // The random number generator in its browser build requires a browser.
  if (folder === undefined || name === undefined || !COMPILED.has(name) || path === "lib/random")
    return undefined;
  const map = maps.get(folder) ?? browserMap(folder);
  maps.set(folder, map);
  const replacement = map[`./${path}`] ?? map[`./${path}.js`];
  return replacement === undefined ? undefined : join(folder, replacement);
}

function browserMap(folder: string): Readonly<Record<string, string>> {
  const parsed = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    browser?: Readonly<Record<string, string>>;
  };
  return parsed.browser ?? {};
}

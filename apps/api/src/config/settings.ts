import type { SettingGroup } from "@causeway/config";
import { setting, traceSettings } from "@causeway/config";
import { accessSettings } from "./access.ts";
import { appBalanceSettings } from "./app-balance.ts";
import { engineSettings } from "./engine.ts";
import { httpSettings } from "./http.ts";
import { noticeSettings } from "./notices.ts";
import { keyServiceSettings } from "./key-services.ts";
import { permitSettings } from "./permits.ts";
import { priceSettings } from "./prices.ts";
import { pushSettings } from "./push.ts";
import { quoteSettings } from "./quotes.ts";
import { settlementSettings } from "./settlement.ts";
import { solverSettings } from "./solver.ts";
import { storageSettings } from "./storage.ts";
import { swapSettings } from "./swaps.ts";
import { tokenSettings } from "./tokens.ts";

const { ed25519Key, evmAddresses, matching, privateKey, secret, text } = setting;

/** Which configuration files to read. */
export const locationSettings = {
  environment: matching({
    name: "ENVIRONMENT",
    form: "lowercase words joined by dots",
    pattern: /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/,
    describe:
      "Selects the files `chains.<ENVIRONMENT>.json`, `chains.hub.<ENVIRONMENT>.json` and `prices.<ENVIRONMENT>.json`: `local`, `testnets.prod`, `mainnets.prod` or your own. Only `local` accepts publicly known keys.",
  }),
  configsDir: text({
    name: "CONFIGS_DIR",
    default: "configs",
    describe: "Directory of these files.",
  }),
  vaultDir: text({
    name: "VAULT_SECRETS_DIR",
    default: "/vault/secrets",
    describe:
      "Directory of secret files. Their `KEY=VALUE` lines override the environment. They are parsed and never run by a shell.",
  }),
};

/** Read only by `operator withdraw`, never by the service. */
export const withdrawSettings = {
  allocatorPrivateKey: privateKey({
    name: "ALLOCATOR_PRIVATE_KEY",
    optional: true,
    describe:
      "Signs withdrawals from the depositories and records them in the hub's Allocator. Only `operator withdraw` reads it: keep it off the machines of the service.",
  }),
  allocatorSigner: secret({
    name: "ALLOCATOR_SIGNER",
    optional: true,
    describe:
      "Where the allocator's key is if not in ALLOCATOR_PRIVATE_KEY: a source as in SOLVER_SIGNER. Requires ALLOCATOR_ADDRESS.",
  }),
  allocatorAddress: evmAddresses({
    name: "ALLOCATOR_ADDRESS",
    form: "address, 0x and 40 hex digits",
    pattern: /^0x[0-9a-fA-F]{40}$/,
    optional: true,
    describe: "Address of the allocator's key.",
  }),
};

/** Read only by `operator deploy`, never by the service. */
export const deploySettings = {
  deployerPrivateKey: privateKey({
    name: "DEPLOYER_PRIVATE_KEY",
    optional: true,
    describe:
      "Sends the transactions of `operator deploy apply` and pays for them. It never owns a contract and gets no role. Only `operator deploy` reads it: keep it off the machines of the service.",
  }),
  deployerSolanaKey: ed25519Key({
    name: "DEPLOYER_SOLANA_KEY",
    optional: true,
    describe:
      "Like DEPLOYER_PRIVATE_KEY, for the program on Solana: the seed of an ed25519 key, or the content of a key file of Solana's tools. It has no role after the deployment.",
  }),
};

/** The settings of the API and the worker. */
export const settingGroups = {
  location: locationSettings,
  storage: storageSettings,
  http: httpSettings,
  access: accessSettings,
  push: pushSettings,
  notices: noticeSettings,
  traces: traceSettings,
  solver: solverSettings,
  keyServices: keyServiceSettings,
  prices: priceSettings,
  tokens: tokenSettings,
  swaps: swapSettings,
  quotes: quoteSettings,
  engine: engineSettings,
  appBalance: appBalanceSettings,
  permits: permitSettings,
  settlement: settlementSettings,
};

/** The headings of docs/CONFIG.md and the settings below them, in this order. */
export const apiSettingGroups: readonly SettingGroup[] = [
  { title: "Configuration files", settings: settingGroups.location },
  { title: "Storage", settings: settingGroups.storage },
  { title: "HTTP, logs and process", settings: settingGroups.http },
  { title: "Access and rate limits", settings: settingGroups.access },
  { title: "Push", settings: settingGroups.push },
  { title: "Notifications", settings: settingGroups.notices },
  { title: "Traces", settings: settingGroups.traces },
  { title: "Solver", settings: settingGroups.solver },
  { title: "Key services", settings: settingGroups.keyServices },
  { title: "Prices", settings: settingGroups.prices },
  { title: "Tokens", settings: settingGroups.tokens },
  { title: "Swaps", settings: settingGroups.swaps },
  { title: "Quotes and fees", settings: settingGroups.quotes },
  { title: "Risk limits and waiting times", settings: settingGroups.engine },
  { title: "App balance", settings: settingGroups.appBalance },
  { title: "Permit signatures", settings: settingGroups.permits },
  { title: "Settlement", settings: settingGroups.settlement },
  { title: "Withdrawals from the hub", settings: withdrawSettings },
  { title: "Deployment of contracts", settings: deploySettings },
];

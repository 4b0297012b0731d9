import type { ConfigLocation, Env, SettingValues } from "@causeway/config";
import { ConfigError, loadHub, setting } from "@causeway/config";
import type { Address, AttestationHub } from "@causeway/domain";
import { parseAddress } from "@causeway/domain";
import type { SettlementPolicy } from "../settlement/settlement-policy.port.ts";
import { fixedEnginePolicy } from "./engine.ts";
import type { OracleUrl } from "./oracle-urls.ts";

const { evmAddresses, secret } = setting;

export const settlementSettings = {
  oracleUrls: secret({
    name: "ORACLE_URLS",
    optional: true,
    describe:
      "Oracles that attest the solver's payments: `<base URL>|<API key>` joined with `;`, the key being optional. The URL must use https, except at private addresses: loopback and private IP addresses, names without a dot, and names that end in `.internal` or `.local`. Each oracle queries its peers itself; if one fails, the next is asked. Unset: fills continue, but nothing is settled. Requires `chains.hub.<ENVIRONMENT>.json`.",
  }),
  oracleSigners: evmAddresses({
    name: "ORACLE_SIGNERS",
    form: "addresses separated by `;`",
    pattern: /^0x[0-9a-fA-F]{40}(;0x[0-9a-fA-F]{40})*;?$/,
    optional: true,
    describe:
      "Signers whose signatures count, out of those that the hub's OracleMultisig accepts. Unset: all of them.",
  }),
};

/** Timeout of one request to an oracle, which queries its peers in the meantime. */
export const ORACLE_TIMEOUT_MS = 15_000;

export const fixedSettlementPolicy: SettlementPolicy = {
  intervalMs: 1_000,
  retryMs: 1_000,
  maxRetryMs: 300_000,
  rejectedRetryMs: 6 * 3_600_000,
  concurrency: 8,
  batchSize: 20,
  stuckAfterMs: 60_000,
  rebroadcastIntervalMs: fixedEnginePolicy.rebroadcastIntervalMs,
  maxAttempts: fixedEnginePolicy.maxAttempts,
};

/** How the solver's payments are settled on the hub. */
export interface SettlementConfig extends SettlementHub {
  readonly oracles: readonly OracleUrl[];
  /** Undefined: every signer that the multisig accepts counts. */
  readonly signers: readonly Address[] | undefined;
  readonly oracleTimeoutMs: number;
  readonly policy: SettlementPolicy;
}

export interface SettlementHub {
  readonly hub: AttestationHub;
  /** Contract on the hub that verifies the oracles' signatures. */
  readonly multisig: Address;
}

/** @throws ConfigError */
export function readSettlementHub(source: ConfigLocation & { readonly env: Env }): SettlementHub {
  const { hub } = loadHub(source);
  const multisig = hub.oracleMultisigAddress;
  if (multisig === undefined)
    throw new ConfigError([
      `chains.hub.${source.environment}.json: oracleMultisigAddress is required for settlement`,
    ]);
  return { hub, multisig };
}

export function settlementConfig(
  { hub, multisig }: SettlementHub,
  oracles: readonly OracleUrl[],
  { oracleSigners }: SettingValues<typeof settlementSettings>,
): SettlementConfig {
  return {
    hub,
    multisig,
    oracles,
    signers: oracleSigners?.split(";").flatMap((text) => parseAddress(text) ?? []),
    oracleTimeoutMs: ORACLE_TIMEOUT_MS,
    policy: fixedSettlementPolicy,
  };
}

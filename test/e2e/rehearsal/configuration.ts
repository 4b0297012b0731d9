import { repositoryRoot } from "@causeway/testkit";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AWS_CREDENTIALS, type KmsAccount } from "./kms-account.ts";
import type { Variables } from "./instance.ts";
import type { Network } from "./network.ts";

/** The `ENVIRONMENT` of the instance, which its chain files are named after. */
export const ENVIRONMENT = "rehearsal";

/** The keys of the service. */
export interface ServiceKeys {
  readonly solver: KmsAccount;
  /**
   * The key that the current solver key replaced, which finishes its own orders. Absent before the first
   * replacement.
   */
  readonly former?: KmsAccount;
  readonly executor: KmsAccount;
  readonly depositAddressOperator: KmsAccount;
}

type Entry = Record<string, unknown> & { readonly id: string; tokens: { readonly id: string }[] };

/**
 * Copies the mainnet chain files for this instance, as docs/operations/deploy.md says. Changes only what
 * differs on local chains: tokens, swap protocols, and the time until finality.
 */
export async function copyChainFiles(folder: string, { usdc }: Pick<Network, "usdc">): Promise<void> {
  const source = join(repositoryRoot, "configs");
  const chains = JSON.parse(await readFile(join(source, "chains.mainnets.prod.json"), "utf8")) as Entry[];
  const adapted = chains.map((entry) => {
    if (!["ethereum", "base"].includes(entry.id)) return entry;
    const { liquidity: _, additionalData: __, contracts, tokens, ...rest } = entry;
    const { multicall3: ___, permit2: ____, ...own } = contracts as Record<string, unknown>;
    return {
      ...rest,
      contracts: own,
      tokens: tokens.filter(({ id }) => id === "usdc").map((token) => ({ ...token, address: usdc })),
      confirmationTiers: [{ confirmations: 1 }],
      finalityBlocks: 2,
      blockTimeSeconds: 1,
    };
  });
  await writeFile(join(folder, `chains.${ENVIRONMENT}.json`), JSON.stringify(adapted));
  const hub = await readFile(join(source, "chains.hub.mainnets.prod.json"));
  await writeFile(join(folder, `chains.hub.${ENVIRONMENT}.json`), hub);
}

/** `.env.example`, filled in. */
export async function fillInEnvironment(
  network: Network,
  folder: string,
  keys: ServiceKeys,
): Promise<Variables> {
  const example = await readFile(join(repositoryRoot, ".env.example"), "utf8");
  const lines = [...example.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)];
  const exampleVariables = Object.fromEntries(lines.map(([, name = "", value = ""]) => [name, value]));
  return {
    ...exampleVariables,
    ...chainVariables(network, folder),
    ...accountVariables(keys),
    // Only servers that Compose starts use these two variables.
    POSTGRES_PASSWORD: "",
    REDIS_PASSWORD: "",
    DATABASE_URL: network.postgres.url,
    REDIS_URL: network.redis.url,
    PRICE_SOURCE: "coingecko",
    PRICE_URL: network.thirdPartyUrl,
    NOTIFY_URLS: `${network.thirdPartyUrl}/notices`,
    APP_BALANCE_CHAIN_ID: "1",
    UNATTRIBUTED_REFUND_AFTER_MS: "3600000",
    SPENDING_LIMITS: JSON.stringify([{ transactionUsd: "5000", dayUsd: "50000", maxFeePerGasGwei: "500" }]),
  };
}

/** The variables with the addresses of the service's keys. */
export function accountVariables({
  solver,
  former,
  executor,
  depositAddressOperator,
}: ServiceKeys): Variables {
  return {
    SOLVER_ADDRESS: solver.account.address,
    SOLVER_FORMER_ADDRESSES: former?.account.address ?? "",
    EXECUTOR_ADDRESS: executor.account.address,
    DEPOSIT_ADDRESS_OPERATOR_ADDRESS: depositAddressOperator.account.address,
  };
}

/** The variables with node endpoints, for the service, oracles and `operator deploy`. */
export function chainVariables({ ethereum, base, hub }: Network, folder: string): Variables {
  return {
    ENVIRONMENT,
    CONFIGS_DIR: join(folder, "configs"),
    HTTP_HOST: "127.0.0.1",
    ETHEREUM_RPC_URL: ethereum.url,
    ETHEREUM_WS_URL: ethereum.wsUrl,
    BASE_RPC_URL: base.url,
    BASE_WS_URL: base.wsUrl,
    HUB_RPC_URL: hub.url,
    HUB_CHAIN_ID: String(hub.chainId),
    HUB_DEPOSIT_PARTS_SINCE: "0",
  };
}

/** Credentials for the key service, for each process that signs. */
export function kmsSecrets({ kms }: Pick<Network, "kms">): Variables {
  return { ...AWS_CREDENTIALS, AWS_ENDPOINT_URL_KMS: kms.url };
}

/** The variables that name the worker's keys. */
export function workerSecrets({ solver, former, executor, depositAddressOperator }: ServiceKeys): Variables {
  return {
    SOLVER_SIGNER: solver.source,
    ...(former && { SOLVER_FORMER_SIGNERS: `${former.account.address}=${former.source}` }),
    EXECUTOR_SIGNER: executor.source,
    DEPOSIT_ADDRESS_OPERATOR_SIGNER: depositAddressOperator.source,
  };
}

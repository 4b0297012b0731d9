import { randomBytes } from "node:crypto";
import { chainVariables, kmsSecrets } from "./configuration.ts";
import type { Instance, Variables } from "./instance.ts";
import { createKmsAccount, type KmsAccount } from "./kms-account.ts";
import type { Network } from "./network.ts";

/** An oracle with its own key in the key service. */
export interface OraclePlan {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  readonly key: KmsAccount;
  /** The API keys that the oracle issued, by the name of the client: the service or a peer. */
  readonly issued: Readonly<Record<string, string>>;
}

const ORACLES = 3;
/** The number of signatures that the hub requires. */
export const THRESHOLD = 2;

/**
 * Plans oracles on consecutive ports from `firstPort`. Each oracle issues an API key to every other oracle.
 */
export async function planOracles({ kms }: Network, firstPort: number): Promise<readonly OraclePlan[]> {
  const names = Array.from({ length: ORACLES }, (_, at) => `oracle-${at + 1}`);
  return await Promise.all(
    names.map(async (name, at) => ({
      name,
      url: `http://127.0.0.1:${firstPort + at}`,
      port: firstPort + at,
      key: await createKmsAccount(kms),
      issued: Object.fromEntries(
        ["service", ...names].map((label) => [label, randomBytes(32).toString("hex")]),
      ),
    })),
  );
}

/** Starts all oracles as docs/ORACLE.md says. */
export async function startOracles(
  network: Network,
  instance: Instance,
  oracles: readonly OraclePlan[],
): Promise<void> {
  const signers = oracles.map(({ key }) => key.account.address).join(";");
  await Promise.all(
    oracles.map(async (oracle) => {
      const { name, port, key } = oracle;
      await instance.writeSecrets(name, { ...kmsSecrets(network), ...callersAndPeers(oracle, oracles) });
      const env: Variables = {
        ...chainVariables(network, instance.folder),
        HTTP_PORT: String(port),
        SIGNING_MODULE: "aws-kms",
        AWS_KMS_SIGNER_KEY_ID: key.keyId,
        AWS_KMS_SIGNER_KEY_REGION: key.region,
        ORACLE_SIGNERS: signers,
        ORACLE_SIGNERS_THRESHOLD: String(THRESHOLD),
        VAULT_SECRETS_DIR: instance.secretsOf(name),
      };
      const readyPath = "/lives/v1";
      await instance.start(name, {
        image: "oracle",
        entry: "dist/main.js",
        env: () => env,
        listensOn: port,
        readyPath,
      });
    }),
  );
}

function callersAndPeers(oracle: OraclePlan, oracles: readonly OraclePlan[]): Variables {
  const callers = Object.entries(oracle.issued).map(([label, key]) => `${key}:${label}`);
  const peers = oracles
    .filter((other) => other !== oracle)
    .map(({ url, issued }) => `${url}|${issued[oracle.name]}`);
  return { API_KEYS: callers.join(";"), PEERS: peers.join(";") };
}

import { hubContracts, localHub, type Quorum } from "./deploy-hub.ts";
import { localAccounts, type LocalAccount } from "./accounts.ts";

/** One oracle of the local system before it is started. */
export interface PlannedOracle {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  readonly account: LocalAccount;
  /** API key that the worker and tools use. */
  readonly apiKey: string;
  /** Environment variables of its process, in addition to those of all processes. */
  readonly env: Readonly<Record<string, string>>;
}

/** Oracles of the local system and the quorum that they form on the hub. */
export interface OraclePlan {
  readonly oracles: readonly PlannedOracle[];
  readonly quorum: Quorum;
}

/**
 * Plans oracles on these ports, each with its own signing key. They are peers of each other with one API key
 * per pair, and any two of them (or a single one) form a quorum. Their keys are public, but valid only for
 * local systems.
 */
export function planOracles(ports: readonly number[]): OraclePlan {
  const accounts = localAccounts("oracle", ports.length);
  const quorum = {
    signers: accounts.map(({ address }) => address),
    threshold: Math.min(2, ports.length),
  };
  const indexes = ports.map((_, index) => index);
  const oracles = ports.flatMap((port, index) => {
    const account = accounts[index];
    if (account === undefined) return [];
    const peerIndexes = indexes.filter((peerIndex) => peerIndex !== index);
    const apiKey = `local-oracle-${index + 1}-key-for-local-tools`;
    const keys = [
      `${apiKey}:tools`,
      ...peerIndexes.map((peerIndex) => `${peerKey(peerIndex, index)}:oracle-${peerIndex + 1}`),
    ];
    const peers = peerIndexes.map(
      (peerIndex) => `${urlOf(ports[peerIndex] ?? 0)}|${peerKey(index, peerIndex)}`,
    );
    return [
      {
        name: `oracle-${index + 1}`,
        port,
        url: urlOf(port),
        account,
        apiKey,
        env: {
          HTTP_PORT: String(port),
          SIGNING_MODULE: "raw-private-key",
          ECDSA_PRIVATE_KEY: account.privateKey,
          API_KEYS: keys.join(";"),
          ...(peers.length === 0 ? {} : { PEERS: peers.join(";") }),
          // Peers must not wait long for a killed oracle.
          PEER_REQUEST_TIMEOUT_MS: "3000",
          REQUEST_DEADLINE_MS: "2500",
          ORACLE_SIGNERS: quorum.signers.join(";"),
          ORACLE_SIGNERS_THRESHOLD: String(quorum.threshold),
        },
      },
    ];
  });
  return { oracles, quorum };
}

/** Variables that the worker needs to settle, and all processes to find the hub; empty without oracles. */
export function settlementEnvironment(plan: OraclePlan, hubPort: number): Record<string, string> {
  if (plan.oracles.length === 0) return {};
  const { chainId } = localHub;
  const contracts = hubContracts(plan.quorum);
  return {
    ORACLE_URLS: plan.oracles.map(({ url, apiKey }) => `${url}|${apiKey}`).join(";"),
    HUB_RPC_URL: urlOf(hubPort),
    HUB_CHAIN_ID: String(chainId),
    HUB_ADDRESS: contracts.hub,
    HUB_ORACLE_ADDRESS: contracts.oracle,
    HUB_ORACLE_MULTISIG_ADDRESS: contracts.oracleMultisig,
    HUB_ALLOCATOR_ADDRESS: contracts.allocator,
    HUB_GENERIC_MAPPING_ADDRESS: contracts.genericMapping,
  };
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** The API key that one oracle uses with another. */
function peerKey(from: number, to: number): string {
  return `local-oracle-key-from-${from + 1}-for-peer-${to + 1}-`;
}

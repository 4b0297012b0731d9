import { bytesOf, FAMILY_VM_TYPES, type Hex } from "@causeway/domain";
import { createKeyPairFromPrivateKeyBytes, getAddressFromPublicKey } from "@solana/kit";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { hostsOf } from "../../nodes/hosts-of.ts";
import { createRpcTransport } from "../../nodes/transport.ts";
import { createReads, type SolanaReads } from "../reads.ts";
import type { Payer } from "../sign-payment.ts";

/** The `vmType` that these plans support. */
export const PROGRAM_VM_TYPE = FAMILY_VM_TYPES.solana;

/** A cluster to deploy to. */
export interface ProgramChain {
  /** Reads from the first endpoint. */
  readonly reads: SolanaReads;
  /** Reads from each endpoint. */
  readonly allReads: readonly SolanaReads[];
  /** Hosts of the endpoints, in the same order, without credentials. */
  readonly hosts: readonly string[];
  /** Genesis hash of the cluster that all endpoints serve. */
  readonly genesisHash: string;
  close(): Promise<void>;
}

/** An endpoint serves another cluster than the configuration or than the first one. */
export class WrongCluster extends Error {
  override readonly name = "WrongCluster";
}

/**
 * Connects to the endpoints of a cluster.
 * @param genesisHash of the configuration; undefined: any, but all endpoints must serve the same cluster
 * @throws WrongCluster, RpcFault
 */
export async function connectForProgram(
  rpcUrls: readonly string[],
  genesisHash: string | undefined,
): Promise<ProgramChain> {
  const transports = rpcUrls.map((url) => createRpcTransport({ url, connections: 2 }));
  const hosts = hostsOf(rpcUrls);
  const close = async (): Promise<void> => {
    await Promise.all(transports.map((transport) => transport.close()));
  };
  try {
    const genesisHashes = await Promise.all(
      transports.map((transport) => transport.request("getGenesisHash", [])),
    );
    const expected = genesisHash ?? String(genesisHashes[0]);
    const wrong = genesisHashes.findIndex((hash) => hash !== expected);
    if (wrong >= 0) {
      const source =
        genesisHash === undefined ? "as the first endpoint does" : "which additionalData.genesisHash names";
      throw new WrongCluster(
        `httpRpcUrl: ${hosts[wrong] ?? ""} serves the cluster with the genesis hash ${String(genesisHashes[wrong])}, expected ${expected}, ${source}; correct the URL`,
      );
    }
    const allReads = transports.map(createReads);
    const [reads] = allReads;
    if (reads === undefined) throw new RangeError("invariant violated: no RPC URL");
    return { reads, allReads, hosts, genesisHash: expected, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The account of an ed25519 key. @param seed 32 bytes */
export async function programDeployer(seed: Hex): Promise<Payer> {
  const pair = await createKeyPairFromPrivateKeyBytes(bytesOf(seed));
  return { address: await getAddressFromPublicKey(pair.publicKey), pair };
}

/** A program of this version: the committed file, which its build reproduces. */
export function programElf(name: "depository" | "deposit-address"): Uint8Array {
  return readFileSync(createRequire(import.meta.url).resolve(`@causeway/contracts/${name}.so`));
}

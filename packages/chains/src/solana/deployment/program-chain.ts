import { bytesOf, FAMILY_VM_TYPES, type Hex } from "@causeway/domain";
import { createKeyPairFromPrivateKeyBytes, getAddressFromPublicKey } from "@solana/kit";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { hostsOf } from "../../nodes/hosts-of.ts";
import { createRpcTransport } from "../../nodes/transport.ts";
import { createReads, type NonEvmReads } from "../reads.ts";
import type { Payer } from "../sign-payment.ts";

/** The `vmType` that these plans support. */
export const PROGRAM_VM_TYPE = FAMILY_VM_TYPES.solana;

/** A cluster to deploy to. */
export interface ProgramChain {
  /** Reads from the first endpoint. */
  readonly reads: NonEvmReads;
  /** Reads from each endpoint. */
  readonly all: readonly NonEvmReads[];
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
    const found = await Promise.all(transports.map((one) => one.request("getGenesisHash", [])));
    const expected = genesisHash ?? String(found[0]);
    const wrong = found.findIndex((one) => one !== expected);
    if (wrong >= 0) {
      const source =
        genesisHash === undefined ? "as the first endpoint does" : "which additionalData.genesisHash names";
      throw new WrongCluster(
        `httpRpcUrl: ${hosts[wrong] ?? ""} serves the cluster with the genesis hash ${String(found[wrong])}, expected ${expected}, ${source}; correct the URL`,
      );
    }
    const all = transports.map(createReads);
    const [reads] = all;
    if (reads === undefined) throw new RangeError("invariant violated: no RPC URL");
    return { reads, all, hosts, genesisHash: expected, close };
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

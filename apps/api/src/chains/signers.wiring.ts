import {
  awsKmsSigner,
  connectedSigner,
  ethRpcSigner,
  googleKmsSigner,
  rawKeySigner,
  SignerUnavailable,
  web3Signer,
  WrongKey,
  type ConnectedSigner,
  type Signer,
} from "@causeway/attest";
import type { Address } from "@causeway/domain";
import { type Lifecycle, type Logger, StartProblem } from "@causeway/service-kit";
import type { ApiConfig } from "../config/config.ts";
import type { KeyServices } from "../config/key-services.ts";
import type { KeySource, SigningKey } from "../config/key-source.ts";
import type { WorkerKeys } from "../config/own-accounts.ts";
import type { Account, Services, WorkerServices } from "../db/services.port.ts";
import { signerProcessClient } from "./signer-process-client.adapter.ts";
import type { TimeSignatures } from "./time-signatures.port.ts";

/** The addresses of the service's accounts, which both processes know. */
export function knownAccounts({ accounts }: Pick<ApiConfig, "accounts">): Pick<
  Services,
  "signer" | "executor" | "depositAddressOperator"
> & {
  readonly formerSigners: readonly Account[];
} {
  const { solver, executor, depositAddressOperator, formerSolvers } = accounts;
  return {
    signer: { address: solver },
    executor: executor && { address: executor },
    depositAddressOperator: depositAddressOperator && { address: depositAddressOperator },
    formerSigners: formerSolvers.map((address) => ({ address })),
  };
}

interface SignerNeeds {
  /** Undefined: signatures are not measured. */
  readonly timeSignatures?: TimeSignatures;
  readonly config: { readonly keyServices: KeyServices };
  readonly log: Pick<Logger, "warn">;
  readonly lifecycle: Pick<Lifecycle, "add">;
}

/** The keys that only the worker has. @throws StartProblem as {@link openSigner} */
export async function workerSigners(
  needs: SignerNeeds,
  { solver, executor, depositAddressOperator, formerSolvers }: WorkerKeys,
): Promise<
  Pick<WorkerServices, "signer" | "executor" | "depositAddressOperator"> & {
    readonly formerSigners: readonly Signer[];
  }
> {
  const open = async (key: SigningKey | undefined) => key && (await openSigner(needs, key));
  const [signer, executorSigner, operatorSigner, ...formerSigners] = await Promise.all([
    openSigner(needs, solver),
    open(executor),
    open(depositAddressOperator),
    ...formerSolvers.map((key) => openSigner(needs, key)),
  ]);
  return { signer, executor: executorSigner, depositAddressOperator: operatorSigner, formerSigners };
}

/**
 * Opens a key. If a key service is unavailable now, it is retried with each signature.
 * @throws StartProblem when the service holds the key of another account
 */
export async function openSigner(needs: SignerNeeds, key: SigningKey): Promise<Signer> {
  const signer = await openKey(needs, key);
  const timed = needs.timeSignatures?.(key.address, key.source.kind);
  if (timed === undefined) return signer;
  const { address, isLocal } = signer;
  return {
    address,
    ...(isLocal && { isLocal }),
    signDigest: (digest, preimage) => timed(() => signer.signDigest(digest, preimage)),
  };
}

async function openKey(
  { config, log, lifecycle }: SignerNeeds,
  { address, source }: SigningKey,
): Promise<Signer> {
  if (source.kind === "raw") return rawKeySigner(source.privateKey.reveal());
  const signer = remoteSigner(address, source, config.keyServices);
  lifecycle.add(`signer ${address}`, () => signer.close());
  try {
    await signer.connect();
  } catch (error) {
    if (error instanceof WrongKey)
      throw new StartProblem(`${source.kind}: ${error.message}`, { cause: error });
    if (!(error instanceof SignerUnavailable))
      throw new StartProblem(`${source.kind} for ${address}: ${String(error)}`, { cause: error });
    log.warn({ event: "signer_unavailable", account: address, source: source.kind, fault: error.fault });
  }
  return signer;
}

function remoteSigner(
  address: Address,
  source: Exclude<KeySource, { kind: "raw" }>,
  { aws, google }: KeyServices,
): ConnectedSigner {
  return connectedSigner(address, async () => {
    switch (source.kind) {
      case "aws-kms": {
        const { endpoint, credentials } = aws;
        return await awsKmsSigner({
          keyId: source.keyId,
          region: source.region,
          endpoint,
          credentials: credentials && {
            accessKeyId: credentials.accessKeyId,
            secretAccessKey: credentials.secretAccessKey.reveal(),
            sessionToken: credentials.sessionToken?.reveal(),
          },
        });
      }
      case "gcp-kms":
        return await googleKmsSigner({ name: source.name, ...google });
      case "web3signer":
        return web3Signer({ url: source.url.reveal(), address });
      case "eth-rpc":
        return ethRpcSigner({ url: source.url.reveal(), address });
      case "signer":
        return signerProcessClient(source.url.reveal(), address);
      default:
        return source satisfies never;
    }
  });
}

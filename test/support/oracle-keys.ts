import { awsKmsSigner, rawKeySigner } from "@causeway/attest";
import type { AwsKmsSigner, Signer } from "@causeway/attest";
import { startKms, type RunningKms } from "@causeway/simulators/kms";
import type { Hex } from "@causeway/domain";

/** The private key of the n-th account of these tests. */
export const privateKey = (n: number): Hex => `0x${(n + 1).toString(16).padStart(64, "0")}`;

let kmsSigners: readonly Signer[] | undefined;

/**
 * The signer of the n-th oracle. It has a raw key, or after {@link keepKeysInKms} the same key in a key
 * service.
 */
export function oracleSigner(n: number): Signer {
  if (kmsSigners === undefined) return rawKeySigner(privateKey(n));
  const signer = kmsSigners[n];
  if (signer === undefined) throw new Error(`the key service keeps no key of oracle ${n}`);
  return signer;
}

export interface KeysInKms {
  readonly kms: RunningKms;
  stop(): Promise<void>;
}

/**
 * From now on, the oracles of this file sign with keys in a service that implements the AWS KMS protocol,
 * through the AWS SDK.
 */
export async function keepKeysInKms(count = 3): Promise<KeysInKms> {
  const originalEnv = process.env;
  process.env = { ...originalEnv, AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
  const kms = await startKms({ region: "eu-west-1" });
  const signers: AwsKmsSigner[] = [];
  for (let n = 0; n < count; n++) {
    const { id: keyId } = kms.importKey(privateKey(n));
    signers.push(await awsKmsSigner({ keyId, region: kms.region, endpoint: kms.url }));
  }
  kmsSigners = signers;
  return {
    kms,
    async stop() {
      kmsSigners = undefined;
      for (const signer of signers) signer.close();
      await kms.stop();
      process.env = originalEnv;
    },
  };
}

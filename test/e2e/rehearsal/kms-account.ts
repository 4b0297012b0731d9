import { awsKmsSigner, type AwsKmsSigner } from "@causeway/attest";
import type { RunningKms } from "@causeway/simulators/kms";
import {
  getAddress,
  hashMessage,
  hashTypedData,
  keccak256,
  serializeSignature,
  serializeTransaction,
  type Hex,
  type LocalAccount,
} from "viem";
import { toAccount } from "viem/accounts";

/** Credentials that let an AWS client use keys. */
export const AWS_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: "AKIAREHEARSAL",
  AWS_SECRET_ACCESS_KEY: "rehearsal-secret-access-key",
} as const;

/** A key in the key service. */
export interface KmsAccount {
  /** The key's value in `*_SIGNER` settings. */
  readonly source: string;
  readonly region: string;
  readonly keyId: string;
  /** An account for wallets that support the key service, such as `cast send --aws`. */
  readonly account: LocalAccount;
  close(): void;
}

/** Creates a key in the key service, and reads its address. */
export async function createKmsAccount(kms: RunningKms): Promise<KmsAccount> {
  const { id: keyId } = kms.createKey("ECC_SECG_P256K1");
  const credentials = {
    accessKeyId: AWS_CREDENTIALS.AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_CREDENTIALS.AWS_SECRET_ACCESS_KEY,
  };
  const signer = await awsKmsSigner({ keyId, region: kms.region, endpoint: kms.url, credentials });
  return {
    source: `aws-kms:${kms.region}/${keyId}`,
    region: kms.region,
    keyId,
    account: accountOf(signer),
    close: () => signer.close(),
  };
}

function accountOf(signer: AwsKmsSigner): LocalAccount {
  const sign = async (digest: Hex): Promise<Hex> => serializeSignature(await signer.signDigest(digest));
  return toAccount({
    address: getAddress(signer.address),
    signMessage: async ({ message }) => await sign(hashMessage(message)),
    signTypedData: async (data) => await sign(hashTypedData(data as never)),
    signTransaction: async (transaction) => {
      const digest = keccak256(serializeTransaction(transaction));
      return serializeTransaction(transaction, await signer.signDigest(digest));
    },
  });
}

import type { Hex32 } from "@causeway/domain";
import { addressOf } from "./address-of.ts";
import { kmsFault } from "./aws-kms-fault.ts";
import { digestBytes } from "./bytes.ts";
import { foreignSignature } from "./foreign-signature.ts";
import type { Signature, Signer } from "./signer.ts";
import { SignerUnavailable } from "./signer-unavailable.ts";
import { pointOfSpki } from "./spki.ts";

/** A key pair of AWS, with the token that belongs to it when it is a temporary one. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface AwsKmsOptions {
  /** Id, ARN or alias of an asymmetric secp256k1 key for signing. */
  readonly keyId: string;
  readonly region: string;
  /** Another address of the service; without it AWS_ENDPOINT_URL_KMS, else the region's own. */
  readonly endpoint?: string | undefined;
  /**
   * Without them they are found as AWS's own tools find them: the process's environment, files, the role of
   * the machine.
   */
  readonly credentials?: AwsCredentials | undefined;
  /** For one call with all its attempts and the wait for credentials. Default 5000. */
  readonly deadlineMs?: number;
  /** For one attempt; a slower one is given up and made again. Default 1500. */
  readonly attemptMs?: number;
  /** Default 3. */
  readonly attempts?: number;
}

/** A signer whose key lives in AWS KMS. */
export interface AwsKmsSigner extends Signer {
  /** Ends the connections. */
  close(): void;
}

/**
 * Asks AWS KMS for the key's address, then signs with it.
 *
 * The SDK is loaded here and not before: who signs with a raw key never runs it.
 *
 * @throws SignerUnavailable when the service does not answer, or not with a key (retryable)
 * @throws Error when the key is not one of secp256k1 for signing; the text does not name it
 */
export async function awsKmsSigner(options: AwsKmsOptions): Promise<AwsKmsSigner> {
  const { keyId, region, endpoint, credentials } = options;
  const { deadlineMs = 5_000, attemptMs = 1_500, attempts = 3 } = options;
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await import("@aws-sdk/client-kms");
  const client = new KMSClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials: sdkCredentials(credentials) }),
    maxAttempts: attempts,
    retryMode: "standard",
    requestHandler: {
      connectionTimeout: Math.min(attemptMs, 1_000),
      requestTimeout: attemptMs,
      // Without it the SDK only writes a warning, and waits on.
      throwOnRequestTimeout: true,
    },
  });

  /** One call with its deadline. @throws SignerUnavailable */
  async function call<Output>(send: (abortSignal: AbortSignal) => Promise<Output>): Promise<Output> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), deadlineMs);
    // The SDK looks at the signal while it talks to the service, not while it looks for credentials.
    const late = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener("abort", () => reject(new SignerUnavailable("timeout")));
    });
    try {
      return await Promise.race([send(deadline.signal), late]);
    } catch (error) {
      throw error instanceof SignerUnavailable ? error : new SignerUnavailable(kmsFault(error));
    } finally {
      clearTimeout(timer);
    }
  }

  async function addressOfKey(): Promise<Signer["address"]> {
    const answer = await call(
      async (abortSignal) => await client.send(new GetPublicKeyCommand({ KeyId: keyId }), { abortSignal }),
    );
    if (answer.PublicKey === undefined) throw new SignerUnavailable("bad-answer");
    const point = pointOfSpki(answer.PublicKey);
    if (point === undefined || answer.KeyUsage !== "SIGN_VERIFY")
      throw new Error("KMS key must be an asymmetric ECC_SECG_P256K1 key for SIGN_VERIFY");
    return addressOf(point);
  }

  try {
    const address = await addressOfKey();
    return {
      address,
      async signDigest(digest: Hex32): Promise<Signature> {
        const command = new SignCommand({
          KeyId: keyId,
          Message: digestBytes(digest),
          MessageType: "DIGEST",
          SigningAlgorithm: "ECDSA_SHA_256",
        });
        const answer = await call(async (abortSignal) => await client.send(command, { abortSignal }));
        const signature = answer.Signature && foreignSignature(answer.Signature, digest, address);
        if (signature === undefined) throw new SignerUnavailable("bad-answer");
        return signature;
      },
      close: () => client.destroy(),
    };
  } catch (error) {
    client.destroy();
    throw error;
  }
}

function sdkCredentials({ sessionToken, ...pair }: AwsCredentials) {
  return sessionToken === undefined ? pair : { ...pair, sessionToken };
}

import type { Hex32 } from "@causeway/domain";
import { addressOf } from "./address-of.ts";
import { kmsFault } from "./aws-kms-fault.ts";
import { digestBytes } from "./bytes.ts";
import { foreignSignature } from "./foreign-signature.ts";
import type { Signature, Signer } from "./signer.ts";
import { SignerUnavailable } from "./signer-unavailable.ts";
import { pointOfSpki } from "./spki.ts";

/** An AWS key pair, with its session token if it is temporary. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface AwsKmsOptions {
  /** Id, ARN or alias of an asymmetric secp256k1 key for signing. */
  readonly keyId: string;
  readonly region: string;
  /** Another endpoint of the service. Absent: AWS_ENDPOINT_URL_KMS, otherwise the region's endpoint. */
  readonly endpoint?: string | undefined;
  /** Absent: the default credential chain of AWS: process environment, files, the role of the machine. */
  readonly credentials?: AwsCredentials | undefined;
  /** Timeout of one call with all its attempts, including the wait for credentials, ms. Default: 5000. */
  readonly deadlineMs?: number;
  /** Timeout of one attempt, after which it is aborted and repeated, ms. Default: 1500. */
  readonly attemptMs?: number;
  /** Maximum attempts. Default: 3. */
  readonly attempts?: number;
}

/** A signer whose key is in AWS KMS. */
export interface AwsKmsSigner extends Signer {
  /** Closes the connections. */
  close(): void;
}

/**
 * Reads the key's address from AWS KMS, then signs with it. Loads the SDK lazily: a raw key never needs it.
 * @throws SignerUnavailable if the service does not answer or returns no key (retryable)
 * @throws Error if the key is not a secp256k1 signing key; the error message never contains the key id
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
      // Otherwise, the SDK only logs a warning and keeps waiting.
      throwOnRequestTimeout: true,
    },
  });

  /** One call with its deadline. @throws SignerUnavailable */
  async function call<Output>(send: (abortSignal: AbortSignal) => Promise<Output>): Promise<Output> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), deadlineMs);
    // The SDK respects the signal during the request, but not while it resolves credentials.
    const timeout = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener("abort", () => reject(new SignerUnavailable("timeout")));
    });
    try {
      return await Promise.race([send(deadline.signal), timeout]);
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

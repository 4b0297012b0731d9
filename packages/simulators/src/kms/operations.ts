import { KmsError, validation } from "./kms-error.ts";
import { keySpecs, sha256, type KeySpec, type KmsKey } from "./kms-key.ts";

/** The body of a call, as received. */
export type KmsInput = Readonly<Record<string, unknown>>;

/** The keys of the service. */
export interface KeyRing {
  /** Finds a key by id, ARN or alias. */
  find(keyId: string): KmsKey | undefined;
  create(spec: KeySpec): KmsKey;
}

/** Executes one call, or throws the KmsError that the real service would return. */
type Operation = (input: KmsInput, keys: KeyRing) => Readonly<Record<string, unknown>>;

/** Supported operations, by the name in `X-Amz-Target: TrentService.<name>`. */
export const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["CreateKey", createKey],
  ["DescribeKey", (input, keys) => ({ KeyMetadata: metadata(keyOf(input, keys, "DescribeKey")) })],
  ["GetPublicKey", getPublicKey],
  ["Sign", sign],
]);

function createKey(input: KmsInput, keys: KeyRing): Readonly<Record<string, unknown>> {
  const spec = keySpecs.find((name) => name === (input["KeySpec"] ?? input["CustomerMasterKeySpec"]));
  if (spec === undefined || input["KeyUsage"] !== "SIGN_VERIFY")
    throw new KmsError(
      "UnsupportedOperationException",
      `Only keys of ${keySpecs.join(", ")} for SIGN_VERIFY can be created here.`,
    );
  return { KeyMetadata: metadata(keys.create(spec)) };
}

function getPublicKey(input: KmsInput, keys: KeyRing): Readonly<Record<string, unknown>> {
  const key = requireUsable(keyOf(input, keys, "GetPublicKey"));
  return {
    CustomerMasterKeySpec: key.spec,
    KeyId: key.arn,
    KeySpec: key.spec,
    KeyUsage: "SIGN_VERIFY",
    PublicKey: Buffer.from(key.publicKey).toString("base64"),
    SigningAlgorithms: ["ECDSA_SHA_256"],
  };
}

function sign(input: KmsInput, keys: KeyRing): Readonly<Record<string, unknown>> {
  const { SigningAlgorithm: algorithm, MessageType: messageType = "RAW" } = input;
  const message = base64(input["Message"], "message");
  if (message.length < 1 || message.length > 4096)
    throw validation(
      "1 validation error detected: Value at 'message' failed to satisfy constraint: Member must have length between 1 and 4096",
    );
  if (messageType !== "RAW" && messageType !== "DIGEST")
    throw validation(
      "1 validation error detected: Value at 'messageType' failed to satisfy constraint: Member must satisfy enum value set: [RAW, DIGEST]",
    );
  const key = requireUsable(keyOf(input, keys, "Sign"));
  if (algorithm !== "ECDSA_SHA_256")
    throw new KmsError(
      "InvalidKeyUsageException",
      `Algorithm ${String(algorithm)} is incompatible with key spec ${key.spec}.`,
    );
  if (messageType === "DIGEST" && message.length !== 32)
    throw validation("Digest is invalid length for algorithm ECDSA_SHA_256.");
  const signature = key.sign(messageType === "DIGEST" ? message : sha256(message));
  return {
    KeyId: key.arn,
    Signature: Buffer.from(signature).toString("base64"),
    SigningAlgorithm: algorithm,
  };
}

/** @throws KmsError if the key does not exist, or its policy denies `operation` */
function keyOf(input: KmsInput, keys: KeyRing, operation: string): KmsKey {
  const { KeyId: keyId } = input;
  if (typeof keyId !== "string" || keyId === "")
    throw validation(
      "1 validation error detected: Value null at 'keyId' failed to satisfy constraint: Member must not be null",
    );
  const key = keys.find(keyId);
  if (key === undefined) throw new KmsError("NotFoundException", `Key '${keyId}' does not exist`);
  if (key.denied.has(operation))
    throw new KmsError(
      "AccessDeniedException",
      `User: arn:aws:iam::000000000000:user/local is not authorized to perform: kms:${operation} on resource: ${key.arn}`,
    );
  return key;
}

function requireUsable(key: KmsKey): KmsKey {
  if (key.state === "Disabled") throw new KmsError("DisabledException", `${key.arn} is disabled.`);
  if (key.state === "PendingDeletion")
    throw new KmsError("KMSInvalidStateException", `${key.arn} is pending deletion.`);
  return key;
}

function base64(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(value) || value.length % 4 !== 0)
    throw new KmsError("SerializationException", `${field} is not a base64 blob`);
  return Buffer.from(value, "base64");
}

function metadata(key: KmsKey): Readonly<Record<string, unknown>> {
  return {
    AWSAccountId: "000000000000",
    Arn: key.arn,
    CreationDate: key.createdMs / 1000,
    CustomerMasterKeySpec: key.spec,
    Description: "",
    Enabled: key.state === "Enabled",
    KeyId: key.id,
    KeyManager: "CUSTOMER",
    KeySpec: key.spec,
    KeyState: key.state,
    KeyUsage: "SIGN_VERIFY",
    MultiRegion: false,
    Origin: "AWS_KMS",
    SigningAlgorithms: ["ECDSA_SHA_256"],
  };
}

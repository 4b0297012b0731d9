import { createPublicKey, createVerify, generateKeyPairSync } from "node:crypto";
import { createKey, type KeySpec, type KmsKey } from "./kms-key.ts";
import { startLocalHttp, type LocalAnswer, type LocalRequest } from "./local-http.ts";

export interface RunningGoogleKms {
  readonly url: string;
  /** Name of the only key version. */
  readonly name: string;
  /** Content of a service account key file that this server accepts. */
  readonly serviceAccount: Readonly<Record<string, string>>;
  /** Host and port of the metadata server. */
  readonly metadataHost: string;
  /** Overrides key responses from now on; `drop` closes the connection. */
  overrideResponses(change: ((answer: Answer) => Answer | "drop" | Promise<Answer>) | undefined): void;
  /** Number of tokens issued since the start. */
  tokens(): number;
  stop(): Promise<void>;
}

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

const NAME = "projects/local/locations/global/keyRings/ring/cryptoKeys/solver/cryptoKeyVersions/1";
const ALGORITHMS: Readonly<Record<KeySpec, string>> = {
  ECC_SECG_P256K1: "EC_SIGN_SECP256K1_SHA256",
  ECC_NIST_P256: "EC_SIGN_P256_SHA256",
};

/**
 * Google Cloud KMS (REST, version 1), its token endpoint and the metadata server of a VM, with one real key.
 * Checks access tokens and assertions as strictly as Google does.
 */
export async function startGoogleKms(
  privateKey: string,
  spec: KeySpec = "ECC_SECG_P256K1",
): Promise<RunningGoogleKms> {
  const key = createKey(spec, "local", Date.now(), Buffer.from(privateKey.replace(/^0x/, ""), "hex"));
  const account = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let change: Parameters<RunningGoogleKms["overrideResponses"]>[0];
  let issued = 0;

  const token = (): Answer => ({
    status: 200,
    body: { access_token: `token-${++issued}`, expires_in: 3599, token_type: "Bearer" },
  });

  async function answer(request: LocalRequest): Promise<LocalAnswer> {
    const { method, path, headers, body } = request;
    if (path.startsWith("/computeMetadata/"))
      return headers["metadata-flavor"] === "Google" ? token() : refusal(403, "Missing Metadata-Flavor");
    if (path === "/token") {
      const assertion = new URLSearchParams(body).get("assertion") ?? "";
      return isAssertion(assertion, account.publicKey, `${server.url}/token`)
        ? token()
        : refusal(400, "invalid_grant");
    }
    if (!/^Bearer token-\d+$/.test(headers.authorization ?? "")) return refusal(401, "UNAUTHENTICATED");
    const response =
      method === "GET" && path === `/v1/${NAME}/publicKey`
        ? { status: 200, body: publicKeyOf(key) }
        : method === "POST" && path === `/v1/${NAME}:asymmetricSign`
          ? signatureOf(key, JSON.parse(body) as SignInput)
          : refusal(404, "NOT_FOUND");
    return (await change?.(response)) ?? response;
  }

  const server = await startLocalHttp(answer);
  return {
    url: server.url,
    name: NAME,
    metadataHost: new URL(server.url).host,
    serviceAccount: {
      type: "service_account",
      client_email: "signer@local.iam.gserviceaccount.com",
      private_key: account.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
      token_uri: `${server.url}/token`,
    },
    overrideResponses: (newChange) => void (change = newChange),
    tokens: () => issued,
    stop: async () => await server.stop(),
  };
}

interface SignInput {
  readonly digest?: { readonly sha256?: string };
  readonly digestCrc32c?: string;
}

function publicKeyOf(key: KmsKey): Answer["body"] {
  const pem = createPublicKey({ key: Buffer.from(key.publicKey), format: "der", type: "spki" })
    .export({ format: "pem", type: "spki" })
    .toString();
  return {
    name: NAME,
    pem,
    pemCrc32c: checksum(Buffer.from(pem)),
    algorithm: ALGORITHMS[key.spec],
    protectionLevel: "HSM",
  };
}

function signatureOf(key: KmsKey, { digest, digestCrc32c }: SignInput): Answer {
  const bytes = Buffer.from(digest?.sha256 ?? "", "base64");
  if (bytes.length !== 32) return refusal(400, "INVALID_ARGUMENT");
  if (digestCrc32c !== checksum(bytes)) return refusal(400, "checksum mismatch");
  const signature = Buffer.from(key.sign(bytes));
  return {
    status: 200,
    body: {
      name: NAME,
      signature: signature.toString("base64"),
      signatureCrc32c: checksum(signature),
      verifiedDigestCrc32c: true,
      protectionLevel: "HSM",
    },
  };
}

function isAssertion(assertion: string, key: ReturnType<typeof createPublicKey>, audience: string): boolean {
  const [head = "", claims = "", signature = ""] = assertion.split(".");
  const { aud, exp, scope } = JSON.parse(Buffer.from(claims, "base64url").toString() || "{}") as Record<
    string,
    unknown
  >;
  return (
    createVerify("RSA-SHA256").update(`${head}.${claims}`).verify(key, signature, "base64url") &&
    aud === audience &&
    scope === "https://www.googleapis.com/auth/cloudkms" &&
    Number(exp) > Date.now() / 1000
  );
}

function refusal(code: number, message: string): Answer {
  return { status: code, body: { error: { code, message } } };
}

/** CRC-32C as decimal text, which is the JSON format of 64-bit integers. */
function checksum(bytes: Uint8Array): string {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1;
  }
  return String((crc ^ 0xffff_ffff) >>> 0);
}

import type { Hex32 } from "@causeway/domain";
import { addressOf } from "./address-of.ts";
import { digestBytes } from "./bytes.ts";
import { crc32c } from "./crc32c.ts";
import { foreignSignature } from "./foreign-signature.ts";
import { googleTokens, type GoogleTokenOptions } from "./google-token.ts";
import type { Signature, Signer } from "./signer.ts";
import { signerHttp } from "./signer-http.ts";
import { SignerUnavailable } from "./signer-unavailable.ts";
import { pointOfSpki } from "./spki.ts";

export interface GoogleKmsOptions extends GoogleTokenOptions {
  /** `projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/…`. */
  readonly name: string;
  /** Another origin of the service. */
  readonly endpoint?: string | undefined;
  /** Timeout of one call, ms. Default: 5000. */
  readonly deadlineMs?: number | undefined;
}

const ENDPOINT = "https://cloudkms.googleapis.com";
const ALGORITHM = "EC_SIGN_SECP256K1_SHA256";

/**
 * Reads the key's address from Google Cloud KMS, then signs with it. Verifies the checksums of responses.
 * @throws SignerUnavailable if the service does not answer or returns no key (retryable)
 * @throws Error if the key is not a secp256k1 signing key; the error message never contains the key name
 */
export async function googleKmsSigner(
  options: GoogleKmsOptions,
): Promise<Signer & { close(): Promise<void> }> {
  const { name, endpoint = ENDPOINT, deadlineMs } = options;
  const tokens = googleTokens(options);
  const http = signerHttp({ origin: endpoint, deadlineMs });
  const close = async (): Promise<void> => void (await Promise.all([http.close(), tokens.close()]));

  async function call(method: "GET" | "POST", action: string, body?: object): Promise<Answer> {
    const authorization = `Bearer ${await tokens.token()}`;
    const answer = await http.call({
      method,
      path: `/v1/${name}${action}`,
      headers: { authorization },
      ...(body && { body }),
    });
    if (typeof answer !== "object" || answer === null) throw new SignerUnavailable("bad-answer");
    // Google's own clients check this too, because another key's response would also have a valid checksum.
    if ((answer as Answer)["name"] !== name) throw new SignerUnavailable("bad-answer");
    return answer as Answer;
  }

  async function addressOfKey(): Promise<Signer["address"]> {
    const { pem, pemCrc32c, algorithm } = await call("GET", "/publicKey");
    if (typeof pem !== "string" || !isChecksumOf(Buffer.from(pem), pemCrc32c))
      throw new SignerUnavailable("bad-answer");
    const der = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ""), "base64");
    const point = algorithm === ALGORITHM ? pointOfSpki(der) : undefined;
    if (point === undefined) throw new Error(`Google Cloud KMS key must be of algorithm ${ALGORITHM}`);
    return addressOf(point);
  }

  try {
    const address = await addressOfKey();
    return {
      address,
      async signDigest(digest: Hex32): Promise<Signature> {
        const bytes = digestBytes(digest);
        const answer = await call("POST", ":asymmetricSign", {
          // Any 32 bytes: the service does not hash.
          digest: { sha256: Buffer.from(bytes).toString("base64") },
          digestCrc32c: String(crc32c(bytes)),
        });
        const der = Buffer.from(String(answer["signature"]), "base64");
        if (answer["verifiedDigestCrc32c"] !== true || !isChecksumOf(der, answer["signatureCrc32c"]))
          throw new SignerUnavailable("bad-answer");
        const signature = foreignSignature(der, digest, address);
        if (signature === undefined) throw new SignerUnavailable("bad-answer");
        return signature;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Answer = Readonly<Record<string, unknown>>;

/** Whether `checksum` is the CRC-32C of `bytes`. Google's JSON writes 64-bit integers as strings. */
function isChecksumOf(bytes: Uint8Array, checksum: unknown): boolean {
  return String(checksum) === String(crc32c(bytes));
}

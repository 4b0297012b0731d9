import { createSign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { signerHttp, type SignerHttp } from "./signer-http.ts";
import { SignerUnavailable } from "./signer-unavailable.ts";

export interface GoogleTokenOptions {
  /** JSON file of a service account. Absent: the metadata server of the machine. */
  readonly credentialsFile?: string | undefined;
  /** Host and port of the metadata server. Default: Google's. */
  readonly metadataHost?: string | undefined;
}

/** Returns an access token for Google Cloud, cached until shortly before it expires. */
export interface GoogleTokens {
  /** @throws SignerUnavailable */
  token(): Promise<string>;
  close(): Promise<void>;
}

const SCOPE = "https://www.googleapis.com/auth/cloudkms";
const METADATA_HOST = "metadata.google.internal";
const METADATA_PATH = "/computeMetadata/v1/instance/service-accounts/default/token";
const JWT_SECONDS = 3_600;
/** A token that expires sooner is replaced, so that it is valid when the request arrives. */
const RENEW_BEFORE_MS = 60_000;

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id?: string;
  readonly token_uri: string;
}

export function googleTokens({ credentialsFile, metadataHost }: GoogleTokenOptions): GoogleTokens {
  const opened = new Map<string, SignerHttp>();
  let cached: { readonly token: string; readonly expiresAtMs: number } | undefined;
  let renewal: Promise<string> | undefined;

  const http = (origin: string): SignerHttp => {
    const client = opened.get(origin) ?? signerHttp({ origin });
    opened.set(origin, client);
    return client;
  };

  async function requestToken(): Promise<unknown> {
    if (credentialsFile === undefined)
      return await http(`http://${metadataHost ?? METADATA_HOST}`).call({
        method: "GET",
        path: METADATA_PATH,
        headers: { "metadata-flavor": "Google" },
      });
    const account = await readAccount(credentialsFile);
    const uri = new URL(account.token_uri);
    return await http(uri.origin).call({
      method: "POST",
      path: uri.pathname,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: assertionOf(account, Math.floor(Date.now() / 1000)),
      }).toString(),
    });
  }

  async function renew(): Promise<string> {
    const { access_token: token, expires_in: seconds } = fieldsOf(await requestToken());
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token) || typeof seconds !== "number")
      throw new SignerUnavailable("bad-answer");
    cached = { token, expiresAtMs: Date.now() + seconds * 1000 };
    return token;
  }

  return {
    async token() {
      if (cached !== undefined && Date.now() < cached.expiresAtMs - RENEW_BEFORE_MS) return cached.token;
      renewal ??= renew().finally(() => (renewal = undefined));
      return await renewal;
    },
    async close() {
      await Promise.all([...opened.values()].map((client) => client.close()));
    },
  };
}

/** Reads the file for each token, so that a replaced file takes effect without a restart. */
async function readAccount(file: string): Promise<ServiceAccount> {
  try {
    const account = fieldsOf(JSON.parse(await readFile(file, "utf8")));
    if (account["type"] !== "service_account" || !URL.canParse(String(account["token_uri"])))
      throw new SignerUnavailable("no-credentials");
    return account as unknown as ServiceAccount;
  } catch {
    // The cause may contain the key.
    throw new SignerUnavailable("no-credentials");
  }
}

/** The JWT that a token is exchanged for (RFC 7523). @throws SignerUnavailable for an unusable key */
function assertionOf(account: ServiceAccount, nowSeconds: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    iss: account.client_email,
    scope: SCOPE,
    aud: account.token_uri,
    iat: nowSeconds,
    exp: nowSeconds + JWT_SECONDS,
  };
  const text = `${part({ alg: "RS256", typ: "JWT", kid: account.private_key_id })}.${part(claims)}`;
  try {
    return `${text}.${createSign("RSA-SHA256").update(text).sign(account.private_key, "base64url")}`;
  } catch {
    throw new SignerUnavailable("no-credentials");
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

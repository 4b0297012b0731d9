import { ConfigError, Secret } from "@causeway/config";
import type { Address } from "@causeway/domain";

/** Where a private key is: in this process, a key service, a remote signer, or a signer process. */
export type KeySource =
  | { readonly kind: "raw"; readonly privateKey: Secret }
  | { readonly kind: "aws-kms"; readonly region: string; readonly keyId: string }
  | { readonly kind: "gcp-kms"; readonly name: string }
  /** Their URLs may contain credentials. */
  | { readonly kind: "web3signer" | "eth-rpc" | "signer"; readonly url: Secret };

/** A key, and the account that it signs for. */
export interface SigningKey {
  readonly address: Address;
  readonly source: KeySource;
}

export const KEY_SOURCE_FORMS =
  "`aws-kms:<region>/<key id, ARN or alias>`, `gcp-kms:projects/<p>/locations/<l>/keyRings/<r>/cryptoKeys/<k>/cryptoKeyVersions/<v>`, `web3signer:<URL>`, `eth-rpc:<URL>` or `signer:<URL>`";

const AWS = /^aws-kms:([a-z]{2}(?:-[a-z]+)+-\d)\/(\S+)$/;
const GOOGLE =
  /^gcp-kms:(projects\/[^/\s]+\/locations\/[^/\s]+\/keyRings\/[^/\s]+\/cryptoKeys\/[^/\s]+\/cryptoKeyVersions\/\d+)$/;
const REMOTE = /^(web3signer|eth-rpc):(https?:\/\/\S+)$/;
const SIGNER_PROCESS = /^signer:((?:unix|http):\/\/\S+)$/;

/**
 * Parses where a key is. @throws ConfigError that does not quote the text: a URL may contain credentials
 */
export function readKeySource(name: string, text: string): KeySource {
  const [, region, keyId] = AWS.exec(text) ?? [];
  if (region !== undefined && keyId !== undefined) return { kind: "aws-kms", region, keyId };
  const [, keyVersion] = GOOGLE.exec(text) ?? [];
  if (keyVersion !== undefined) return { kind: "gcp-kms", name: keyVersion };
  const [, processUrl] = SIGNER_PROCESS.exec(text) ?? [];
  if (processUrl !== undefined) return { kind: "signer", url: readSignerProcess(name, processUrl) };
  const [, kind, url] = REMOTE.exec(text) ?? [];
  const parsed = url === undefined ? null : URL.parse(url);
  if (url === undefined || parsed === null || parsed.search !== "" || parsed.hash !== "")
    throw new ConfigError([`${name} must be ${KEY_SOURCE_FORMS}, without a query in the URL`]);
  if (parsed.password !== "" && parsed.protocol === "http:" && !isLoopback(parsed.hostname))
    throw new ConfigError([
      `${name} must use https: http sends its password unencrypted and is accepted only for 127.0.0.1, [::1] and localhost`,
    ]);
  return { kind: kind === "eth-rpc" ? "eth-rpc" : "web3signer", url: new Secret(url) };
}

/** The URL of a signer process on this host. An http URL has the token as its password. */
function readSignerProcess(name: string, text: string): Secret {
  const url = URL.parse(text);
  const isSocket = url?.protocol === "unix:" && url.host === "" && url.pathname.length > 1;
  const isLocalPort =
    url?.protocol === "http:" && isLoopback(url.hostname) && url.port !== "" && url.password.length >= 32;
  if (!isSocket && !isLocalPort)
    throw new ConfigError([
      `${name} must be signer:unix:///<path>, or signer:http://:<ORDER_SIGNER_TOKEN>@127.0.0.1:<port>`,
    ]);
  return new Secret(text);
}

const FORMER_SIGNER = /^(0x[0-9a-fA-F]{40})=(\S+)$/;

/** Parses former keys that are not in this process: `<address>=<source>`, separated by commas. */
export function readFormerSigners(text: string): readonly SigningKey[] {
  const entries = text.split(",").map((entry) => entry.trim());
  if (entries.at(-1) === "") entries.pop();
  return entries.map((entry, index) => {
    const name = `SOLVER_FORMER_SIGNERS entry ${index + 1}`;
    const [, address, source] = FORMER_SIGNER.exec(entry) ?? [];
    if (address === undefined || source === undefined)
      throw new ConfigError([
        `${name} must be <address>=<source>, for example 0x…=aws-kms:eu-west-1/alias/solver`,
      ]);
    return { address: address.toLowerCase() as Address, source: readKeySource(name, source) };
  });
}

export function isLoopback(hostname: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(hostname);
}

import { BlockList, isIP } from "node:net";

/** Loopback, private and unique local addresses, which are not routed on the internet. */
const privateAddresses = new BlockList();
for (const [net, bits] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  privateAddresses.addSubnet(net, bits, "ipv4");
privateAddresses.addAddress("::1", "ipv6");
privateAddresses.addSubnet("fc00::", 7, "ipv6");

/** A peer's URL and credential. */
export interface PeerEndpoint {
  /** Without a trailing slash; may have a path. Holds no credential: safe to log. */
  readonly baseUrl: string;
  /** The API key that this peer issued to us; secret. Undefined: the caller's own key is passed on. */
  readonly credential: string | undefined;
}

export interface PeerList {
  readonly peers: readonly PeerEndpoint[];
  /** One sentence each, without credentials. Use the peers only if there are no problems. */
  readonly problems: readonly string[];
}

/** The credential that passes on the caller's own key. */
export const PASS_THROUGH = "pass-through";

/**
 * Parses `PEERS`: `<base url>|<credential>` joined with `;`, optionally with a trailing `;`. The first `|` is
 * the separator, so a credential may contain `|` (a URL must encode it as `%7C`). Refuses two entries with
 * the same base URL, which would query one oracle twice.
 */
export function readPeerList(text: string): PeerList {
  const entries = text.split(";").map((entry) => entry.trim());
  if (entries.at(-1) === "") entries.pop();
  const peers: PeerEndpoint[] = [];
  const problems: string[] = [];
  const seen = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const peer = readPeer(entry);
    const where = `PEERS entry ${index + 1}`;
    if (typeof peer === "string") {
      problems.push(`${where} ${peer}`);
      continue;
    }
    const duplicate = seen.get(peer.baseUrl);
    if (duplicate === undefined) seen.set(peer.baseUrl, index + 1);
    else problems.push(`${where} repeats the base URL of entry ${duplicate}`);
    peers.push(peer);
  }
  return { peers, problems };
}

function readPeer(entry: string): PeerEndpoint | string {
  const bar = entry.indexOf("|");
  if (bar < 0) return "has no key; use <base url>|<key> or <base url>|pass-through";
  const url = URL.canParse(entry.slice(0, bar).trim()) ? new URL(entry.slice(0, bar).trim()) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return "must start with an absolute http or https URL";
  if (sendsKeyInClear(url)) return PLAINTEXT_URL;
  if (url.username !== "" || url.password !== "")
    return "has credentials in its URL; put the API key after the |";
  if (url.search !== "" || url.hash !== "") return "must not have a query or fragment in its base URL";
  const credential = entry.slice(bar + 1).trim();
  // Any other character is invalid in a header: every call would fail, or the header would end early.
  if (!/^[\x21-\x7e]+$/.test(credential))
    return "has an empty key or one with characters not allowed in a header";
  return {
    baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
    credential: credential === PASS_THROUGH ? undefined : credential,
  };
}

/** Why URLs that send the key unencrypted are refused. */
export const PLAINTEXT_URL =
  "must use https; http sends the key unencrypted and is accepted only for private addresses (loopback and private IP addresses, names without a dot, names that end in .internal or .local)";

/** Whether requests to the URL can be read in transit. */
export function sendsKeyInClear({ protocol, hostname }: Pick<URL, "protocol" | "hostname">): boolean {
  return protocol === "http:" && !isPrivateHost(hostname);
}

/**
 * Names are not resolved, because their address can change later. Names without a dot (containers of one
 * network) and names below `internal` and `local` (Kubernetes services) are not public.
 */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  return family === 0
    ? /^[^.]+$|\.(?:internal|local)$/.test(host)
    : privateAddresses.check(host, family === 4 ? "ipv4" : "ipv6");
}

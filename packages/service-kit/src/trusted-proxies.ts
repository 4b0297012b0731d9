/**
 * Proxies whose `X-Forwarded-For` entry is trusted: none, this many in front of the server, or those at these
 * addresses and ranges. Never all of them: a caller could then choose its own address.
 */
export type TrustedProxies = false | number | readonly string[];

/** Converts the setting to the format of Fastify and `proxy-addr`; hop 0 is the peer of the connection. */
export function trustedHops(
  trust: TrustedProxies,
): false | string[] | ((address: string, hop: number) => boolean) {
  if (trust === false) return false;
  return typeof trust === "number" ? (_address, hop) => hop < trust : [...trust];
}

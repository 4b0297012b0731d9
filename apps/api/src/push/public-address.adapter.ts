import { BlockList, isIP } from "node:net";

/**
 * IPv4 ranges without public hosts (IANA special-purpose registry), including multicast and reserved ones.
 */
const notPublicV4 = blockList("ipv4", [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);
/**
 * The IPv6 range for public hosts; excludes mapped and translated IPv4, unique local, link-local and
 * multicast addresses.
 */
const globalV6 = blockList("ipv6", ["2000::/3"]);
/**
 * Parts of `globalV6` without public hosts: protocol assignments including Teredo, documentation, and
 * embedded IPv4 addresses.
 */
const notPublicV6 = blockList("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/** Whether an IP address may belong to a host on the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublicV4.check(address, "ipv4");
    case 6:
      // Only link-local addresses have a zone.
      return !address.includes("%") && globalV6.check(address, "ipv6") && !notPublicV6.check(address, "ipv6");
    default:
      return false;
  }
}

/**
 * Whether the host in a URL may be public. For a host name, its addresses are checked later, when it is
 * called.
 */
export function mayBePublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? !/(^|\.)localhost\.?$/.test(host) : isPublicAddress(host);
}

function blockList(family: "ipv4" | "ipv6", ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = "", bits] = range.split("/");
    list.addSubnet(net, Number(bits), family);
  }
  return list;
}

/** The address, or the /64 of an IPv6 address, because one host can use the whole /64. */
export function addressBlock(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const after = tail === undefined ? 0 : tail.split(":").filter((group) => group !== "").length;
  while (tail !== undefined && groups.length + after < 8) groups.push("0");
  return groups.slice(0, 4).join(":").toLowerCase();
}

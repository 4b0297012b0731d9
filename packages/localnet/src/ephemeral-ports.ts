import { readFile } from "node:fs/promises";
import { isPortFree } from "@causeway/testkit";
import { defaultPortBase, portBlock } from "./local-chains.ts";

/** A range of ports, both ends inclusive. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** The range of local ports that Linux uses for outgoing connections; undefined on other systems. */
export async function readEphemeralRange(
  file = "/proc/sys/net/ipv4/ip_local_port_range",
): Promise<PortRange | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const [from, to] = text.trim().split(/\s+/).map(Number);
  return Number.isInteger(from) && Number.isInteger(to) ? { from: from ?? 0, to: to ?? 0 } : undefined;
}

/**
 * A warning if an outgoing connection could take a port of the system at `portBase` before the system does;
 * otherwise undefined.
 */
export async function ephemeralWarning(
  portBase: number,
  range: PortRange | undefined,
): Promise<string | undefined> {
  if (range === undefined || !overlaps(portBase, range)) return undefined;
  const suggestedBase = await freeBaseOutside(range);
  return (
    `ports ${portBase} to ${portBase + portBlock - 1}: this machine uses ${range.from} to ${range.to} for outgoing connections, which may take ` +
    `these ports first${suggestedBase === undefined ? "" : `; use --port-base ${suggestedBase}`}`
  );
}

/** Another port base for a system whose ports are taken: the next hundred, or outside `range`. */
export async function suggestPortBase(portBase: number, range: PortRange | undefined): Promise<number> {
  const next = portBase + 100;
  if (range === undefined || !overlaps(next, range)) return next;
  return (await freeBaseOutside(range)) ?? next;
}

function overlaps(portBase: number, { from, to }: PortRange): boolean {
  return portBase <= to && portBase + portBlock > from;
}

/** Tries the default first, then the bases after it; undefined if none is usable. */
async function freeBaseOutside(range: PortRange): Promise<number | undefined> {
  for (let base = defaultPortBase; base + portBlock <= 65_535; base += 100)
    if (!overlaps(base, range) && (await isPortFree(base))) return base;
  return undefined;
}

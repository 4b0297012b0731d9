import { readFile } from "node:fs/promises";
import { isPortFree } from "@causeway/testkit";
import { defaultPortBase, portBlock } from "./local-chains.ts";

/** Ports, both ends included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** From which ports Linux takes those of outgoing connections; undefined on systems that do not say. */
export async function readEphemeralRange(
  file = "/proc/sys/net/ipv4/ip_local_port_range",
): Promise<PortRange | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const [from, to] = text.trim().split(/\s+/).map(Number);
  return Number.isInteger(from) && Number.isInteger(to) ? { from: from ?? 0, to: to ?? 0 } : undefined;
}

/**
 * One sentence when an outgoing connection may take a port of the system from `portBase` before the system
 * does; else undefined.
 */
export async function ephemeralWarning(
  portBase: number,
  range: PortRange | undefined,
): Promise<string | undefined> {
  if (range === undefined || !overlaps(portBase, range)) return undefined;
  const better = await freeBaseOutside(range);
  return (
    `ports ${portBase} to ${portBase + portBlock - 1}: this machine uses ${range.from} to ${range.to} for outgoing connections, which may take ` +
    `one of these ports first.${better === undefined ? "" : ` Safer: --port-base ${better}`}`
  );
}

/** Where else to start a system whose ports are taken: the next hundred, or outside of `range`. */
export async function otherBase(portBase: number, range: PortRange | undefined): Promise<number> {
  const next = portBase + 100;
  if (range === undefined || !overlaps(next, range)) return next;
  return (await freeBaseOutside(range)) ?? next;
}

function overlaps(portBase: number, { from, to }: PortRange): boolean {
  return portBase <= to && portBase + portBlock > from;
}

/** The default first, then what follows it; undefined when none of them will do. */
async function freeBaseOutside(range: PortRange): Promise<number | undefined> {
  for (let base = defaultPortBase; base + portBlock <= 65_535; base += 100)
    if (!overlaps(base, range) && (await isPortFree(base))) return base;
  return undefined;
}

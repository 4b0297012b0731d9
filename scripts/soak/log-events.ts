import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** How often the services logged each event at warning level or above. Pure. */
export function countAlarms(logText: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of logText.split("\n")) {
    const entry = parseEntry(line);
    if (entry === undefined || Number(entry["level"]) < WARNING) continue;
    const err = entry["err"];
    const message =
      typeof err === "object" && err !== null && "message" in err ? String(err.message) : undefined;
    const name = String(entry["event"] ?? entry["msg"]);
    // The reason of a fault matters, without the ids and addresses in it.
    const key =
      message === undefined ? name : `${name}: ${message.slice(0, 120).replace(/0x[0-9a-f]+|\d{4,}/gi, "…")}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

const WARNING = 40;

function parseEntry(line: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    // A killed process may leave half a line, and a crash prints plain text.
    return undefined;
  }
}

/** The same for all API and worker logs of a system, most frequent first, as lines of text. */
export async function readAlarms(logFolder: string): Promise<string[]> {
  const files = (await readdir(logFolder)).filter((name) => /^(api|worker)-\d+\.log$/.test(name));
  const texts = await Promise.all(files.map(async (name) => await readFile(join(logFolder, name), "utf8")));
  return [...countAlarms(texts.join("\n"))]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `logged ${count} times: ${name}`);
}

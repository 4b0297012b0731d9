import { ConfigError, setting } from "@causeway/config";
import { createHash } from "node:crypto";
import type { SettingValues } from "@causeway/config";
import type { Channel } from "../notices/notices.port.ts";

/** Where operators are notified. */
export const noticeSettings = {
  notifyUrls: setting.secret({
    name: "NOTIFY_URLS",
    optional: true,
    describe:
      "URLs that alarms are posted to, joined with `;`: `<URL>` gets JSON, `<URL>|slack` the format of Slack's incoming webhooks. Private addresses and plain http are allowed; redirects are not followed. Set it for the API as well as the worker: only the API notices that no worker runs. Unset: no notifications.",
  }),
};

export interface NoticeConfig {
  /** Empty: no notifications. */
  readonly channels: readonly Channel[];
}

/**
 * Reads `NOTIFY_URLS`.
 * @throws ConfigError with all problems; none contains a URL
 */
export function noticeConfig({ notifyUrls }: SettingValues<typeof noticeSettings>): NoticeConfig {
  const entries = (notifyUrls?.reveal() ?? "").split(";").map((entry) => entry.trim());
  if (entries.at(-1) === "") entries.pop();
  const problems: string[] = [];
  const channels = entries.flatMap((entry, index) => {
    const channel = readEntry(entry);
    if (typeof channel !== "string") return [channel];
    problems.push(`NOTIFY_URLS entry ${index + 1} ${channel}`);
    return [];
  });
  if (new Set(channels.map(({ id }) => id)).size < channels.length)
    problems.push("NOTIFY_URLS lists the same URL twice");
  if (problems.length > 0) throw new ConfigError(problems);
  return { channels };
}

/** @returns the channel, or the problem of an invalid entry as text */
function readEntry(entry: string): Channel | string {
  const [urlText = "", format, ...more] = entry.split("|").map((part) => part.trim());
  const url = URL.parse(urlText);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    return "must start with an http or https URL";
  if (url.username !== "" || url.password !== "")
    return "has a user name or password in its URL; put a token into the path or query instead";
  if (more.length > 0 || (format !== undefined && format !== "slack"))
    return "must be `<URL>` or `<URL>|slack`; write a | inside the URL as %7C";
  const id = createHash("sha256").update(url.href).digest("hex").slice(0, 12);
  return { id, url: url.href, format: format ?? "json" };
}

import { ConfigError } from "./config-error.ts";
import type { SettingValues } from "./env.ts";
import { secret } from "./kinds.ts";

/** The collector of spans. The names are those of OpenTelemetry. */
export const traceSettings = {
  tracesEndpoint: secret({
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    optional: true,
    describe:
      "Base URL of an OpenTelemetry collector, such as `http://collector:4318`. Spans are posted as OTLP JSON to `/v1/traces` below it. Unset: no traces.",
  }),
  tracesHeaders: secret({
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    optional: true,
    describe: "Headers for the collector, `<name>=<value>` joined with `,`. Values are percent-decoded.",
  }),
};

/**
 * The URL for spans and its headers; undefined: no traces.
 * @throws ConfigError with all problems; none contains a value
 */
export function traceTarget({
  tracesEndpoint,
  tracesHeaders,
}: SettingValues<typeof traceSettings>):
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | undefined {
  if (tracesEndpoint === undefined) return undefined;
  const problems: string[] = [];
  const url = URL.parse(tracesEndpoint.reveal());
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    problems.push("OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL without a user name or password");
  const entries = (tracesHeaders?.reveal() ?? "").split(",").filter((entry) => entry.trim() !== "");
  const headers = entries.flatMap((entry, index) => {
    const header = readHeader(entry);
    if (header === undefined)
      problems.push(`OTEL_EXPORTER_OTLP_HEADERS entry ${index + 1} must be <name>=<value>`);
    return header === undefined ? [] : [header];
  });
  if (problems.length > 0 || url === null) throw new ConfigError(problems);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/traces`;
  return { url: url.href, headers: Object.fromEntries(headers) };
}

function readHeader(entry: string): readonly [name: string, value: string] | undefined {
  const [, name = "", encoded = ""] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]+)\s*$/.exec(entry) ?? [];
  try {
    const value = decodeURIComponent(encoded);
    return name !== "" && /^[\x20-\x7e]+$/.test(value) ? [name.toLowerCase(), value] : undefined;
  } catch {
    // The value contains an invalid percent sign.
    return undefined;
  }
}

import { styleText } from "node:util";
import type { DestinationStream } from "pino";

const LEVELS: Readonly<
  Record<number, { readonly name: string; readonly color: "red" | "yellow" | "cyan" | "gray" }>
> = {
  10: { name: "TRACE", color: "gray" },
  20: { name: "DEBUG", color: "gray" },
  30: { name: "INFO", color: "cyan" },
  40: { name: "WARN", color: "yellow" },
  50: { name: "ERROR", color: "red" },
  60: { name: "FATAL", color: "red" },
};

/** Rewrites each JSON line for people: time, level, event, facts; an error's stack on separate lines. */
export function prettyLines(output: { write(text: string): unknown }, hasColors: boolean): DestinationStream {
  return {
    write: (line) => {
      output.write(pretty(line, hasColors));
    },
  };
}

function pretty(line: string, hasColors: boolean): string {
  const {
    time,
    level,
    name,
    event,
    msg,
    err,
    pid: _,
    hostname: __,
    ...facts
  } = JSON.parse(line) as Record<string, unknown>;
  const shown = LEVELS[Number(level)] ?? { name: String(level), color: "gray" };
  const word = shown.name.padEnd(5);
  const [stack, ...fault] = errorLines(err);
  const words = [
    String(time),
    hasColors ? styleText(shown.color, word, { validateStream: false }) : word,
    String(name),
    ...[event, msg].filter((part) => part !== undefined).map(String),
    ...Object.entries(facts).map(([key, value]) => `${key}=${valueText(value)}`),
    ...fault,
  ];
  return `${words.join(" ")}\n${stack ?? ""}`;
}

/** The stack with its line breaks, then the rest of the line. */
function errorLines(err: unknown): readonly string[] {
  if (err === undefined) return [];
  if (typeof err !== "object" || err === null) return ["", `err=${valueText(err)}`];
  const { stack, ...rest } = err as { readonly stack?: unknown };
  return [typeof stack === "string" ? `${stack.replaceAll(/^/gm, "    ")}\n` : "", `err=${valueText(rest)}`];
}

function valueText(value: unknown): string {
  return typeof value === "string" && /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value);
}

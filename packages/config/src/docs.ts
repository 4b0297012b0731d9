import type { Setting, Settings } from "./env.ts";

/** A heading of the documentation and the settings below it. */
export interface SettingGroup {
  readonly title: string;
  readonly settings: Settings;
}

/**
 * Markdown tables of every setting: name, form, default, meaning. Pure, so that drift is a text comparison.
 */
export function describeSettings(groups: readonly SettingGroup[]): string {
  return groups.map((group) => `### ${group.title}\n\n${table(Object.values(group.settings))}`).join("\n\n");
}

function table(settings: readonly Setting<unknown>[]): string {
  const rows = settings.map((s) => {
    const name = s.fromFile ? `\`${s.name}\` or \`${s.name}_FILE\`` : `\`${s.name}\``;
    return `| ${[name, s.kind, defaultOf(s), s.describe].map(cell).join(" | ")} |`;
  });
  return ["| Variable | Value | Default | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function defaultOf(setting: Setting<unknown>): string {
  if (setting.whenAbsent.kind === "required") return "**required**";
  const { value } = setting.whenAbsent;
  if (value === undefined) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "empty" : `\`${value.join(",")}\``;
  return `\`${typeof value === "bigint" ? value.toString() : JSON.stringify(value).replaceAll('"', "")}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

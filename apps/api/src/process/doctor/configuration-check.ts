import { findingsOf, type Finding } from "./finding.ts";
import type { Subjects } from "./subjects.ts";

/** One finding for each invalid setting and each warning. */
export function judgeConfiguration({
  problems,
  warnings,
}: Pick<Subjects, "problems" | "warnings">): readonly Finding[] {
  const settings = findingsOf("configuration", "settings");
  if (problems.length + warnings.length === 0) return [settings.ok("all settings are valid")];
  return [
    ...problems.map((found) =>
      settings.problem({
        found,
        why: "the process does not start",
        remedy: "correct the setting or the file that the text names (docs/CONFIG.md), then restart",
      }),
    ),
    ...warnings.map((found) =>
      settings.warning({
        found,
        why: "the process starts, but something that may be intended is off or at risk",
        remedy: "follow the text, or leave the setting if this is intended",
      }),
    ),
  ];
}

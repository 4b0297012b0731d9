/** Words that one scope of the glossary refuses, and their replacements. */
export interface Rule {
  /** The entry as in the glossary. */
  readonly avoid: string;
  readonly write: string;
  readonly inText: boolean;
  readonly inNames: boolean;
}

/** Finds refused words in a text, or in the words of an identifier. */
export type Finder = (text: string) => readonly { readonly at: number; readonly rule: Rule }[];

/** Accepted idioms. */
const IDIOMS =
  /\bas[\s*/]+soon[\s*/]+as\b|\b(?:that|which|it|who) is no (?:longer|more|less)\b|\bcoin selection\b|\bUSD Coin\b|\buser nobody\b/gi;

/**
 * Reads the table "Words to avoid" of docs/GLOSSARY.md.
 *
 * @throws Error if the table is missing or a row cannot be read, because a check without rules finds
 * nothing
 */
export function rulesOf(glossary: string): readonly Rule[] {
  const section = /## Words to avoid\n([\s\S]*?)(?=\n## |$)/.exec(glossary)?.[1] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  if (rows.length === 0) throw new Error('docs/GLOSSARY.md: table "Words to avoid" not found');
  return rows.flatMap((row) => {
    const [, avoid = "", write = "", scope = ""] = row.split("|").map((cell) => cell.trim());
    if (!["all", "text", "names"].includes(scope))
      throw new Error(`docs/GLOSSARY.md: scope must be all, text or names, got "${scope}" in: ${row}`);
    return [...avoid.matchAll(/`([^`]+)`/g)].map(([, entry = ""]) => ({
      avoid: entry,
      write,
      inText: scope !== "names",
      inNames: scope !== "text" && !entry.includes(" "),
    }));
  });
}

/** Finds the refused words of a prose text. */
export function textFinder(rules: readonly Rule[]): Finder {
  return finder(rules.filter((rule) => rule.inText));
}

/** Finds the refused words of an identifier: `nobody` is found in `nobodyAsked` and in `NOBODY_ASKED`. */
export function nameFinder(rules: readonly Rule[]): Finder {
  const find = finder(rules.filter((rule) => rule.inNames));
  return (name) => find(wordsOfName(name));
}

function wordsOfName(name: string): string {
  return name.replaceAll(/[_$]/g, " ").replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ");
}

function finder(rules: readonly Rule[]): Finder {
  if (rules.length === 0) return () => [];
  const alternatives = rules.map(({ avoid }) => `(${avoid.replaceAll(" ", "\\s+").replace("*", "\\w*")})`);
  const pattern = new RegExp(`(?<![\\w-])(?:${alternatives.join("|")})(?![\\w-])`, "gi");
  return (text) =>
    [...text.replaceAll(IDIOMS, (idiom) => idiom.replaceAll(/\S/g, "·")).matchAll(pattern)].flatMap(
      (match) => {
        const rule = rules[match.slice(1).findIndex((group) => group !== undefined)];
        return rule === undefined ? [] : [{ at: match.index, rule }];
      },
    );
}

// Writes the two lists that import a file of every chain family, in the order of the family names in
// packages/domain/src/chain/family.ts; with `--check` only reports whether the committed ones are up to date.
import { readFile, writeFile } from "node:fs/promises";
import { FAMILY_IDS } from "@causeway/domain";

const HEADER =
  "// Generated from packages/domain/src/chain/family.ts by scripts/family-lists.ts; do not edit.";

const lists = {
  "packages/families/src/list.ts": `${HEADER}

${linesOf((id) => `export { ${id} } from "./${id}/chain-entry.ts";`)}
`,
  "packages/chains/src/list.ts": `${HEADER}

/** Loads the evidence of each family on demand, and its libraries with it. */
export const evidence = {
${linesOf((id) => `  ${id}: async () => (await import("./${id}/evidence.ts")).${id}Evidence,`)}
};
`,
};

function linesOf(line: (id: string) => string): string {
  return FAMILY_IDS.map(line).join("\n");
}

for (const [path, text] of Object.entries(lists)) {
  const file = new URL(`../${path}`, import.meta.url);
  const committed = await readFile(file, "utf8").catch(() => "");
  if (committed === text) continue;
  if (process.argv.includes("--check")) {
    process.stderr.write(`${path} is out of date: run \`pnpm run family-lists\` and commit it\n`);
    process.exitCode = 1;
  } else await writeFile(file, text);
}

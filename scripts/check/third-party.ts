import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Licenses compatible with MIT: permissive, without conditions on the code that uses them. */
const ALLOWED_LICENSES: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Unlicense",
]);

/** Beginnings of license texts that are forbidden in production, regardless of the package's manifest. */
const FORBIDDEN_TEXTS = /GNU (AFFERO |LESSER )?GENERAL PUBLIC LICENSE|Business Source License/i;
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

export interface ThirdPartyPackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX expression of the manifest; empty if it has none. */
  readonly license: string;
  /** License and notice files, or the license section of the readme. */
  readonly texts: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Every package from the registry that an app loads in production, by name and version. Images omit optional
 * ones.
 */
export function productionPackages(app: string): readonly ThirdPartyPackage[] {
  const found = new Map<string, ThirdPartyPackage>();
  const seen = new Set<string>();
  const folders = [realpathSync(app)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    if (folder.includes("/node_modules/"))
      found.set(`${manifest.name}@${manifest.version}`, describe(folder, manifest));
    for (const name of Object.keys({ ...manifest.peerDependencies, ...manifest.dependencies })) {
      if (name in (manifest.optionalDependencies ?? {})) continue;
      const dependency = dependencyFolder(folder, name);
      if (dependency !== undefined) folders.push(dependency);
      else if (name in (manifest.dependencies ?? {}))
        throw new Error(`${manifest.name} needs ${name}, which is not installed; run pnpm install`);
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => found);
}

/** In pnpm's layout: in the folder's own node_modules, or next to it in the one that contains it. */
function dependencyFolder(folder: string, name: string): string | undefined {
  let holder = dirname(folder);
  while (basename(holder) !== "node_modules" && holder !== dirname(holder)) holder = dirname(holder);
  return [join(folder, "node_modules", name), join(holder, name)]
    .filter((candidate) => existsSync(candidate))
    .map((candidate) => realpathSync(candidate))[0];
}

function describe(folder: string, { name, version, license }: Manifest): ThirdPartyPackage {
  const names = readdirSync(folder).sort();
  const files = names.filter((file) => LICENSE_FILE.test(file) && statSync(join(folder, file)).isFile());
  const read = (file: string): string => readFileSync(join(folder, file), "utf8");
  const readme = names.find((file) => /^readme/i.test(file));
  const section = /^#+ *licen[cs]e\b[^\n]*\n(.*)/ims.exec(readme === undefined ? "" : read(readme))?.[1];
  const texts = files.length > 0 ? files.map(read) : section === undefined ? [] : [section];
  return {
    name,
    version,
    license: typeof license === "string" ? license : "",
    texts: texts.map((text) => text.replaceAll("\r", "").trim()).filter((text) => text !== ""),
  };
}

/** The forbidden licenses of these packages in production, each with its package. */
export function licenseProblems(packages: readonly ThirdPartyPackage[]): readonly string[] {
  return packages.flatMap(({ name, version, license, texts }) => {
    const problems: string[] = [];
    if (!isAllowed(license))
      problems.push(
        `license ${license === "" ? "is missing" : license}, expected ${[...ALLOWED_LICENSES].join(", ")}`,
      );
    if (texts.some((text) => FORBIDDEN_TEXTS.test(text.slice(0, 500))))
      problems.push("its license file contains a GPL or BUSL text");
    return problems.map(
      (problem) => `${name}@${version}: ${problem}; remove it from the production dependencies`,
    );
  });
}

/** For `A OR B`, one must be allowed; for `A AND B`, both. */
function isAllowed(expression: string): boolean {
  return expression
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((license) => ALLOWED_LICENSES.has(license.trim())));
}

/**
 * The notices of an image, as Markdown. Each license text occurs once, with the packages that it belongs to.
 */
export function renderNotices(image: string, packages: readonly ThirdPartyPackage[]): string {
  const owners = new Map<string, string[]>();
  for (const { name, version, texts } of packages)
    for (const text of texts) owners.set(text, [...(owners.get(text) ?? []), `${name}@${version}`]);
  const rows = packages.map(
    ({ name, version, license, texts }) =>
      `| ${name} | ${version} | ${license}${texts.length === 0 ? " (declared; the package holds no text)" : ""} |`,
  );
  const sections = [...owners].map(
    ([text, names]) =>
      `## ${names.join(", ")}\n\n${text.replaceAll(/^/gm, "    ").replaceAll(/ +$/gm, "")}\n`,
  );
  return [
    `# Third-party notices of the ${image} image\n`,
    "Generated by `pnpm notices`. Node and the packages of the base image bring their own: `/usr/local/LICENSE`,",
    "`/usr/share/doc/*/copyright`.\n",
    "| Package | Version | License |",
    "| --- | --- | --- |",
    ...rows,
    "",
    ...sections,
  ].join("\n");
}

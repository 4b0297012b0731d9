import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
const files = new Set(tracked);
const names = new Set(tracked.map((file) => basename(file)));
const documents = tracked.filter((file) => file.endsWith(".md") && !file.endsWith("/THIRD_PARTY_NOTICES.md"));

/** Folders that documents leave out of a file's path. */
const roots = ["", "apps/api", "apps/api/src", "packages", "test", "docs"];

/** Source files that the prose of a document names in backticks. */
function namedFiles(document: string): readonly string[] {
  const prose = readFileSync(join(root, document), "utf8").replaceAll(/```[\s\S]*?```/g, "");
  return [...prose.matchAll(/`([\w./-]+\.(?:ts|cjs|mjs|sol|sql))`/g)].flatMap(([, path]) => path ?? []);
}

function exists(document: string, path: string): boolean {
  if (!path.includes("/")) return names.has(path);
  const folder = dirname(document);
  return [...roots, folder, `${folder}/src`].some((place) => files.has(join(place, path)));
}

/** Where a link can lead in a document: its headings, as GitHub writes them in links, and its own anchors. */
function anchorsOf(document: string): ReadonlySet<string> {
  const prose = readFileSync(join(root, document), "utf8").replaceAll(/```[\s\S]*?```/g, "");
  const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  const anchors = headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  const explicit = [...prose.matchAll(/<a (?:id|name)="([^"]+)"/g)].flatMap(([, anchor]) => anchor ?? []);
  return new Set([...anchors, ...explicit]);
}

test("every link between documents leads to a file, and to a heading of it", () => {
  const links = documents.flatMap((document) =>
    [
      ...readFileSync(join(root, document), "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g),
    ].map(([, path = "", anchor]) => ({
      document,
      to: path === "" ? document : join(dirname(document), path).replace(/\/$/, ""),
      anchor,
    })),
  );
  const broken = links.filter(
    ({ to, anchor }) =>
      !existsSync(join(root, to)) ||
      (anchor !== undefined && to.endsWith(".md") && !anchorsOf(to).has(anchor)),
  );
  expect(links.length).toBeGreaterThan(300);
  expect(broken).toEqual([]);
});

test("every source file that a document names exists", () => {
  const missing = documents.flatMap((document) =>
    namedFiles(document)
      .filter((path) => !exists(document, path))
      .map((path) => `${document}: ${path}`),
  );
  expect(documents.length).toBeGreaterThan(40);
  expect(missing).toEqual([]);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
}

interface Document {
  readonly servers: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

test.each(["api", "oracle"])(
  "openapi/%s.json gives generators a name for each operation, and readers a description of each tag",
  (name) => {
    const file = new URL(`../../openapi/${name}.json`, import.meta.url);
    const { paths, tags, servers } = JSON.parse(readFileSync(file, "utf8")) as Document;
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    const ids = operations.map(({ operationId }) => operationId);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
    expect(ids).toEqual([...new Set(ids)]);
    expect(operations.every(({ summary }) => summary !== undefined)).toBe(true);
    expect(new Set(operations.flatMap((operation) => operation.tags))).toEqual(
      new Set(tags.map((tag) => tag.name)),
    );
    expect(tags.every(({ description }) => description.length > 10)).toBe(true);
    expect(servers.length).toBeGreaterThan(0);
  },
);

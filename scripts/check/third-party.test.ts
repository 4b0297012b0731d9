import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { licenseProblems, productionPackages, renderNotices } from "./third-party.ts";

const dependency = (license: string, text = "Permission is granted") => ({
  name: "some-package",
  version: "1.2.3",
  license,
  texts: [text],
});

test.each(["MIT", "ISC", "Apache-2.0", "(MIT OR GPL-3.0-only)", "(MIT AND BSD-3-Clause)"])(
  "a production dependency may be licensed under %s",
  (license) => {
    expect(licenseProblems([dependency(license)])).toEqual([]);
  },
);

test.each(["GPL-3.0", "LGPL-3.0-or-later", "BUSL-1.1", "(MIT AND GPL-3.0)", "UNLICENSED", ""])(
  'a production dependency must not be licensed under "%s"',
  (license) => {
    const [problem = "", ...others] = licenseProblems([dependency(license)]);
    expect(others).toEqual([]);
    expect(problem).toContain("some-package@1.2.3: license ");
    expect(problem).toContain("expected 0BSD, Apache-2.0");
  },
);

test("refuses a GPL license text even if the manifest says MIT", () => {
  const text = "                    GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007";
  expect(licenseProblems([dependency("MIT", text)])).toEqual([
    "some-package@1.2.3: its license file contains a GPL or BUSL text; remove it from the production dependencies",
  ]);
});

test("lists direct and transitive production dependencies, and each license text once", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "causeway-notices-")));
  try {
    const write = async (path: string, content: object | string): Promise<void> => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
    };
    const store = (name: string): string => `node_modules/.pnpm/${name}@1.0.0/node_modules/${name}`;
    await write("app/package.json", {
      name: "app",
      version: "0.0.0",
      dependencies: { direct: "1.0.0" },
      optionalDependencies: { unused: "1.0.0" },
      devDependencies: { tool: "1.0.0" },
    });
    for (const name of ["direct", "nested", "tool", "unused"]) {
      const dependencies = name === "direct" ? { nested: "1.0.0" } : {};
      await write(`${store(name)}/package.json`, { name, version: "1.0.0", license: "MIT", dependencies });
    }
    await write(`${store("direct")}/LICENSE`, "Copyright of both\n");
    await write(`${store("nested")}/README.md`, "# nested\n\n## License\n\nCopyright of both\n");
    await mkdir(join(folder, "app/node_modules"));
    for (const name of ["direct", "tool", "unused"])
      await symlink(join(folder, store(name)), join(folder, "app/node_modules", name));
    await symlink(join(folder, store("nested")), join(folder, dirname(store("direct")), "nested"));

    const packages = productionPackages(join(folder, "app"));
    expect(packages.map(({ name }) => name)).toEqual(["direct", "nested"]);
    const notices = renderNotices("app", packages);
    expect(notices).toContain("| nested | 1.0.0 | MIT |");
    expect(notices).toContain("## direct@1.0.0, nested@1.0.0\n\n    Copyright of both\n");
    expect(notices.match(/Copyright of both/g)).toHaveLength(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});

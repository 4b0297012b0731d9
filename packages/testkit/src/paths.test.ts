import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { newMemoryDir } from "./paths.ts";

test("a folder for more bytes than memory has is in the temporary folder", () => {
  const folder = newMemoryDir("paths-test", Number.MAX_SAFE_INTEGER);
  rmSync(folder, { recursive: true });
  expect(dirname(folder)).toBe(tmpdir());
});

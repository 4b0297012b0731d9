import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// In a separate process: another test may have loaded the client.

const program = `
  import module from "node:module";
  import { awsKmsSigner, rawKeySigner } from ${JSON.stringify(join(import.meta.dirname, "../index.ts"))};
  const loaded = () => Object.keys(module._cache).some((file) => file.includes("client-kms"));
  await rawKeySigner("11".repeat(32)).signDigest("0x" + "22".repeat(32));
  const before = loaded();
  const nowhere = { keyId: "none", region: "none", endpoint: "http://127.0.0.1:1", deadlineMs: 1 };
  await awsKmsSigner(nowhere).catch(() => undefined);
  console.log(JSON.stringify({ before, after: loaded() }));
`;

test("a raw key does not load AWS's client", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "-C",
    "source",
    "--input-type=module",
    "--eval",
    program,
  ]);
  expect(JSON.parse(stdout)).toEqual({ before: false, after: true });
});

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

// Workspace packages resolve to their sources, so tests need no build.
// Vitest itself must run with `node -C source`, which `pnpm vitest` does.
// "module" is left out: Node uses these conditions too, and cannot load what packages export under it.
const conditions = ["source", "node", "development|production"];

const transformed = {
  extends: true,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
} as const;

// Most objects of a test are short-lived. With more room for them, garbage collection takes a tenth less of
// the time.
const execArgv = ["--max-semi-space-size=64"];

// Node.js loads these files directly, because no test mocks a module. A test file then starts in half the
// time.
const native = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: [...execArgv, "--no-warnings", "-C", "source"],
};

export default defineConfig({
  // Paths below and on the command line are relative to the root of the repository.
  root: resolve(import.meta.dirname, ".."),
  test: {
    projects: [
      {
        ...transformed,
        test: {
          name: "unit",
          execArgv,
          // These files share no state, so one worker can load the product once for many of them.
          isolate: false,
          maxWorkers: availableParallelism(),
          // A busy machine takes several times as long as a quiet one.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          include: ["{packages,apps}/*/src/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          ...native,
          name: "integration",
          isolate: false,
          include: ["test/integration/**/*.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
          maxWorkers: availableParallelism(),
          testTimeout: 120_000,
          // Longer than any wait inside a hook, so that an error names what did not answer.
          hookTimeout: 300_000,
          // A poll ends when its condition is true. The limit matters only on a busy machine.
          expect: { poll: { timeout: 30_000 } },
        },
      },
      {
        extends: true,
        // A whole system mostly waits for blocks, so two of them can share the processors.
        test: {
          ...native,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
          maxWorkers: 2,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
    ],
  },
});

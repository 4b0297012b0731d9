// The rooms of the house and the one-way rule between them. `npm run rooms` holds the tree to it.

/** Packages by row; a package imports only from rows below its own. */
const rows = [
  ["domain", "contracts"],
  ["wire", "config"],
  ["chains", "attest", "service-kit"],
];

const TEST = "\\.test\\.ts$";
const below = (row) => rows.slice(0, row).flat();
const packageFolder = (names) => `^packages/(${names.join("|")})/`;

const rowRules = rows.flatMap((names, row) =>
  names.map((name) => ({
    name: `row-of-${name}`,
    comment: `packages/${name} stands in row ${row}: of the workspace it imports ${below(row).join(", ") || "nothing"}`,
    severity: "error",
    from: { path: packageFolder([name]) },
    to: { path: "^(packages|apps|scripts|bench)/", pathNot: packageFolder([name, ...below(row)]) },
  })),
);

/** Who may import the given place of the same app. */
const onlyFrom = (place, importers, comment) => ({
  name: `who-imports-${place}`,
  comment,
  severity: "error",
  from: { path: "^apps/([^/]+)/src/", pathNot: [TEST, ...importers.map((i) => `^apps/[^/]+/src/${i}`)] },
  to: { path: `^apps/$1/src/${place}` },
});

/** What a place of an app may import of the same app. */
const room = (place, allowed, comment) => ({
  name: `room-${place}`,
  comment,
  severity: "error",
  from: { path: `^apps/([^/]+)/src/${place}/`, pathNot: TEST },
  to: { path: "^apps/$1/src/", pathNot: [place, ...allowed].map((a) => `^apps/$1/src/${a}`) },
});

module.exports = {
  forbidden: [
    ...rowRules,
    {
      name: "apps-stand-apart",
      comment: "an app imports no other app and no local system",
      severity: "error",
      from: { path: "^apps/([^/]+)/", pathNot: TEST },
      to: { path: "^(apps/|packages/localnet/|scripts/|bench/|test/)", pathNot: "^apps/$1/" },
    },
    {
      name: "shared-tests-import-no-tests",
      comment:
        "test/contracts, test/support and test/fakes serve all tests, so they import from none of them",
      severity: "error",
      from: { path: "^test/(contracts|support|fakes|fixtures)/" },
      to: { path: "^test/(integration|e2e|sequences)/" },
    },
    {
      name: "examples-are-clients",
      comment:
        "an example shows what anybody can do from outside: with viem and fetch, or the public SDK, nothing of ours",
      severity: "error",
      from: { path: "^examples/" },
      to: {
        path: "^(apps|packages|scripts|test|bench)/|^node_modules/",
        pathNot: "^node_modules/(\\.pnpm/)?(viem|@relayprotocol)",
      },
    },
    {
      name: "sources-import-no-tests",
      comment: "what runs in production knows nothing of tests, scripts and benches",
      severity: "error",
      from: { path: "^(packages|apps)/[^/]+/src/", pathNot: TEST },
      to: { path: `^(test|scripts|bench)/|${TEST}|^packages/[^/]+/test/` },
    },
    room("routes", ["usecases/", "ports/"], "routes meet use cases and ports, never an adapter"),
    room("jobs", ["usecases/", "ports/"], "jobs meet use cases and ports, never an adapter"),
    room("usecases", ["ports/"], "use cases know ports; how a port is served is not theirs to know"),
    room("ports", [], "ports are types over the packages below"),
    room(
      "adapters",
      ["ports/", "jobs/define-job\\.ts$"],
      "adapters serve ports; of who asks they know only the form of a job",
    ),
    onlyFrom(
      "adapters/",
      ["adapters/", "container", "(main|worker|migrate|operator)\\.ts$"],
      "only the composition root knows adapters",
    ),
    onlyFrom(
      "container",
      ["container", "run-process\\.ts$", "(main|worker|index|operator)\\.ts$"],
      "only the entries know the composition root",
    ),
    onlyFrom("(main|worker|operator)\\.ts", [], "an entry is started, not imported"),
    {
      name: "use-cases-are-free-of-frameworks",
      comment: "what the service does must be readable, and testable, without how it is served or stored",
      severity: "error",
      from: { path: "^apps/[^/]+/src/(usecases|ports)/", pathNot: TEST },
      to: { path: "(^|/)node_modules/(fastify|bullmq|pg|zod|ioredis|pino|node-pg-migrate|undici)/" },
    },
    {
      name: "domain-has-three-libraries",
      comment:
        "the domain computes; viem's pure helpers, a hash and the alphabets of addresses are all it needs",
      severity: "error",
      from: { path: "^packages/domain/src/", pathNot: TEST },
      to: {
        dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "npm-unknown"],
        pathNot: "(^|/)node_modules/(viem|hash-wasm|@scure/base)/",
      },
    },
    {
      name: "pure-packages-have-no-node",
      comment: "no clock, no files, no randomness, no network below row 1",
      severity: "error",
      from: { path: "^packages/(domain|contracts)/src/", pathNot: TEST },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "no-cycles",
      comment: "a circle is one thing in two files",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "resolvable",
      comment: "an import that leads nowhere is not checked by any other rule",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(apps|packages)/[^/]+/dist/" },
    // `cruise()` wants these apart from the rest; the command line finds them here.
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["source", "import", "node", "default"],
      extensions: [".ts", ".mts", ".js", ".mjs", ".cjs", ".json", ".node"],
    },
  },
};

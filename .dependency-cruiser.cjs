// The rooms of the house and the one-way rule between them. `npm run rooms` holds the tree to it.

/** Packages by row; a package imports only from rows below its own. */
const rows = [["domain", "contracts"], ["families"], ["wire", "config"], ["chains", "attest", "service-kit"]];

const TEST = "\\.test\\.ts$";
const below = (row) => rows.slice(0, row).flat();
const packageFolder = (names) => `^packages/(${names.join("|")})/`;

const rowRules = rows.flatMap((names, row) =>
  names.map((name) => ({
    name: `row-of-${name}`,
    comment: `packages/${name} is in row ${row}: of the workspace it may import ${below(row).join(", ") || "nothing"}`,
    severity: "error",
    from: { path: packageFolder([name]) },
    to: { path: "^(packages|apps|scripts|bench)/", pathNot: packageFolder([name, ...below(row)]) },
  })),
);

/**
 * Packages that only scripts, benches and tests use, and what each may import of the workspace. A simulator
 * must not import a judge, because an error that both share would not be found.
 */
const kits = {
  testkit: [],
  simulators: ["domain", "testkit"],
  // "chains" for the programs of Solana, which the local system deploys by the operator's code.
  localnet: ["domain", "contracts", "families", "chains", "wire", "config", "testkit", "simulators"],
};
const KITS = packageFolder(Object.keys(kits));

const kitRules = Object.entries(kits).map(([name, imported]) => ({
  name: `kit-${name}`,
  comment: `packages/${name} imports of the workspace only ${imported.join(", ") || "nothing"}`,
  severity: "error",
  from: { path: packageFolder([name]) },
  to: { path: "^(packages|apps|scripts|bench|test)/", pathNot: packageFolder([name, ...imported]) },
}));

/**
 * The rooms of apps/api, the lowest first: a room imports only from rooms before it. Each holds everything
 * about one noun; the suffix of a file, not its folder, says what the file may import.
 */
const rooms = [
  "db",
  "chains",
  "http",
  "markets",
  "balances",
  "requests",
  "callers",
  "deposits",
  "payments",
  "quotes",
  "executions",
  "settlement",
  "reconcile",
  "watch",
  "push",
  "discovery",
  "telemetry",
  "notices",
  "config",
  "process",
];
const API = "apps/api/src";
const API_ENTRIES = "(main|worker|migrate|operator|index)\\.ts$";
/**
 * Types that name the stores and services of all rooms. They end when each room's SQL takes the transaction
 * itself; no file is added here.
 */
const TYPES_OF_ALL_ROOMS = `^${API}/db/(services|unit-of-work|reads)\\.port\\.ts$`;

/** The schema is one graph: statements join tables of several rooms. */
const TABLES = "\\.tables\\.ts$";

/** Files that choose the adapters of their room, from the configuration, for the processes. */
const WIRING = "\\.wiring\\.ts$";

const roomRules = rooms.map((name, at) => ({
  name: `room-${name}`,
  comment: `${API}/${name} imports of the app only ${rooms.slice(0, at).join(", ") || "nothing"}`,
  severity: "error",
  from: { path: `^${API}/${name}/`, pathNot: [TEST, TYPES_OF_ALL_ROOMS, TABLES, WIRING] },
  to: { path: `^${API}/`, pathNot: [TABLES, ...rooms.slice(0, at + 1).map((room) => `^${API}/${room}/`)] },
}));

const wiringRules = rooms.map((name, at) => ({
  name: `wiring-of-${name}`,
  comment: `wiring of ${API}/${name} imports of the app only config, ${rooms.slice(0, at + 1).join(", ")}`,
  severity: "error",
  from: { path: `^${API}/${name}/.*${WIRING}` },
  to: {
    path: `^${API}/`,
    pathNot: ["config", ...rooms.slice(0, at + 1)].map((room) => `^${API}/${room}/`),
  },
}));

/** What every room may use of `db` and `http`, and what is chosen or measured for all rooms. */
const ROOMS_WITHOUT_DOOR = ["db", "http", "telemetry", "config", "process"];

/**
 * A use case or rule of another room is imported from the door of that room, its `index.ts`. Ports are types,
 * and the other suffixes have rules of their own.
 */
const doorRule = {
  name: "doors",
  comment: "use cases and rules of another room are imported from its index.ts; what is not there is its own",
  severity: "error",
  from: { path: `^${API}/([^/]+)/`, pathNot: [TEST, TABLES, `^${API}/process/`] },
  to: {
    path: `^${API}/[^/]+/`,
    pathNot: [
      `^${API}/($1|${ROOMS_WITHOUT_DOOR.join("|")})/`,
      `^${API}/[^/]+/index\\.ts$`,
      "\\.(port|postgres|adapter|route|job|tables|wiring)\\.ts$",
    ],
  },
};

/** Files of these suffixes serve ports: with Postgres, or with Redis, a node or another service. */
const SERVES_PORTS = "\\.(postgres|adapter)\\.ts$";

/** The files that write app balances, and those that read them with statements of their own. */
const LEDGER_WRITES = `^${API}/balances/ledger-writes[a-z-]*\\.postgres\\.ts$`;
const LEDGER_READS = `^${API}/(balances/(ledger-rows|balance-reads|operator-balance-reads)|requests/history/request-stories)\\.postgres\\.ts$`;

const suffixRules = [
  {
    name: "only-process-chooses-adapters",
    comment:
      "use cases, routes and jobs know ports; only process/, wiring and other adapters know what serves them",
    severity: "error",
    from: {
      path: `^${API}/`,
      pathNot: [TEST, SERVES_PORTS, WIRING, `^${API}/(process|config|telemetry)/`, `^${API}/${API_ENTRIES}`],
    },
    to: { path: `^${API}/.*${SERVES_PORTS}` },
  },
  {
    name: "only-processes-import-wiring",
    comment: "wiring serves process/ and other wiring; everything else takes what it needs as an argument",
    severity: "error",
    from: { path: `^${API}/`, pathNot: [TEST, WIRING, `^${API}/process/`] },
    to: { path: `^${API}/.*${WIRING}` },
  },
  {
    name: "adapters-serve-ports",
    comment: "an adapter knows nothing of routes, and of jobs only how one is defined",
    severity: "error",
    from: { path: `^${API}/.*${SERVES_PORTS}`, pathNot: TEST },
    to: { path: `^${API}/.*\\.(route|job)\\.ts$`, pathNot: `^${API}/db/define-job\\.job\\.ts$` },
  },
  {
    name: "only-statements-know-tables",
    comment: "tables are described for statements and migrations; everything else knows records",
    severity: "error",
    from: { path: `^${API}/`, pathNot: [TEST, TABLES, "\\.postgres\\.ts$"] },
    to: { path: `^${API}/.*${TABLES}` },
  },
  {
    name: "only-the-ledger-writes-balances",
    comment:
      "balances/ledger-writes*.postgres.ts write the tables of the ledger; who-writes-balances.test.ts holds the files that read them to reading",
    severity: "error",
    from: {
      path: `^${API}/`,
      pathNot: [
        TEST,
        LEDGER_WRITES,
        LEDGER_READS,
        `^${API}/db/schema${TABLES}`,
        `^${API}/balances/.*${TABLES}`,
      ],
    },
    to: { path: `^${API}/balances/ledger${TABLES}` },
  },
  {
    name: "only-transactions-write-balances",
    comment: "only the unit of work hands out the ledger, so every write of a balance is in a transaction",
    severity: "error",
    from: {
      path: `^${API}/`,
      pathNot: [TEST, LEDGER_WRITES, `^${API}/process/unit-of-work\\.postgres\\.ts$`],
    },
    to: { path: LEDGER_WRITES },
  },
  {
    name: "tables-are-the-schema",
    comment: "a table knows other tables, and the types of its columns",
    severity: "error",
    from: { path: `^${API}/.*${TABLES}` },
    to: { path: `^${API}/`, pathNot: [TABLES, "\\.port\\.ts$"] },
  },
  {
    name: "ports-are-types",
    comment: "a port is types over the packages below and other ports",
    severity: "error",
    from: { path: `^${API}/.*\\.port\\.ts$` },
    to: { path: `^${API}/`, pathNot: `^${API}/.*\\.port\\.ts$` },
  },
  {
    name: "use-cases-import-no-routes",
    comment: "what the service does knows neither how it is asked nor which queue runs it",
    severity: "error",
    from: {
      path: `^${API}/`,
      pathNot: [
        TEST,
        WIRING,
        "\\.(route|job|adapter)\\.ts$",
        `^${API}/(http|process)/`,
        `^${API}/${API_ENTRIES}`,
      ],
    },
    to: { path: `^${API}/.*\\.(route|job)\\.ts$` },
  },
  {
    name: "only-routes-know-the-server",
    comment: "Fastify belongs to *.route.ts, http/ and process/",
    severity: "error",
    from: { path: `^${API}/`, pathNot: [TEST, "\\.route\\.ts$", `^${API}/(http|process)/`] },
    to: { path: "(^|/)node_modules/(fastify|@fastify)/" },
  },
  {
    name: "only-jobs-know-the-queue",
    comment: "BullMQ belongs to *.job.ts and the adapters that run them",
    severity: "error",
    from: { path: `^${API}/`, pathNot: [TEST, "\\.(job|adapter)\\.ts$"] },
    to: { path: "(^|/)node_modules/bullmq/" },
  },
  {
    name: "only-postgres-files-know-postgres",
    comment: "SQL and its driver belong to *.postgres.ts, and to the relay from the outbox to the queues",
    severity: "error",
    from: {
      path: `^${API}/`,
      pathNot: [
        TEST,
        WIRING,
        "\\.(postgres|tables)\\.ts$",
        `^${API}/db/outbox-relay\\.adapter\\.ts$`,
        `^${API}/process/`,
        `^${API}/${API_ENTRIES}`,
      ],
    },
    to: { path: "(^|/)node_modules/(pg|node-pg-migrate|drizzle-orm)/" },
  },
  {
    name: "use-cases-are-free-of-frameworks",
    comment: "what the service does must be readable, and testable, without how it is served or stored",
    severity: "error",
    from: {
      path: `^${API}/`,
      pathNot: [
        TEST,
        "\\.(route|job|postgres|tables|adapter|wiring)\\.ts$",
        `^${API}/(http|telemetry|config|process)/`,
        `^${API}/${API_ENTRIES}`,
      ],
    },
    to: {
      path: "(^|/)node_modules/(fastify|bullmq|pg|drizzle-orm|zod|ioredis|pino|node-pg-migrate|undici)/",
    },
  },
];

/** Who may import the given place of the same app. */
const onlyFrom = (place, importers, comment) => ({
  name: `who-imports-${place}`,
  comment,
  severity: "error",
  from: { path: "^apps/([^/]+)/src/", pathNot: [TEST, ...importers.map((i) => `^apps/[^/]+/src/${i}`)] },
  to: { path: `^apps/$1/src/${place}` },
});

/** What a place of the oracle may import of the same app. */
const oracleRoom = (place, allowed, comment) => ({
  name: `oracle-${place}`,
  comment,
  severity: "error",
  from: { path: `^apps/oracle/src/${place}/`, pathNot: TEST },
  to: { path: "^apps/oracle/src/", pathNot: [place, ...allowed].map((a) => `^apps/oracle/src/${a}`) },
});

module.exports = {
  forbidden: [
    ...rowRules,
    ...kitRules,
    {
      name: "apps-stand-apart",
      comment: "an app imports no other app and no package for tests",
      severity: "error",
      from: { path: "^apps/([^/]+)/", pathNot: TEST },
      to: { path: `^(apps|scripts|bench|test)/|${KITS}`, pathNot: "^apps/$1/" },
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
        "an example shows what any client can do: it may import viem or the public SDK, and nothing of the workspace",
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
    ...roomRules,
    doorRule,
    ...wiringRules,
    ...suffixRules,
    oracleRoom("routes", ["usecases/", "ports/"], "routes meet use cases and ports, never an adapter"),
    oracleRoom("usecases", ["ports/"], "use cases know ports; how a port is served is not theirs to know"),
    oracleRoom("ports", [], "ports are types over the packages below"),
    oracleRoom("adapters", ["ports/"], "adapters serve ports and know nothing of who asks"),
    onlyFrom(
      "adapters/",
      ["adapters/", "container", "main\\.ts$"],
      "only the composition root knows adapters",
    ),
    onlyFrom("container", ["container", "main\\.ts$"], "only the entries know the composition root"),
    onlyFrom("(main|worker|operator)\\.ts", [], "an entry is started, not imported"),
    {
      name: "oracle-use-cases-are-free-of-frameworks",
      comment: "what the service does must be readable, and testable, without how it is served or stored",
      severity: "error",
      from: { path: "^apps/oracle/src/(usecases|ports)/", pathNot: TEST },
      to: { path: "(^|/)node_modules/(fastify|bullmq|pg|zod|ioredis|pino|node-pg-migrate|undici)/" },
    },
    {
      name: "domain-has-two-libraries",
      comment: "the domain computes; viem's pure helpers and a hash are all it needs",
      severity: "error",
      from: { path: "^packages/domain/src/", pathNot: TEST },
      to: {
        dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "npm-unknown"],
        pathNot: "(^|/)node_modules/(viem|hash-wasm)/",
      },
    },
    {
      name: "families-have-pure-libraries",
      comment: "a family judges what was read; its libraries encode and hash, and open no connection",
      severity: "error",
      from: { path: "^packages/families/src/", pathNot: TEST },
      to: {
        dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "npm-unknown"],
        pathNot: "(^|/)node_modules/(viem|@solana/kit|@scure/(base|btc-signer))/",
      },
    },
    {
      name: "families-know-no-other-family",
      comment: "a family is one folder; Tron alone is an EVM with another protocol",
      severity: "error",
      from: { path: "^packages/families/src/([^/]+)/" },
      to: { path: "^packages/families/src/[^/]+/", pathNot: "^packages/families/src/($1|evm)/" },
    },
    {
      name: "pure-packages-have-no-node",
      comment: "no clock, no files, no randomness, no network",
      severity: "error",
      from: { path: "^packages/(domain|contracts|families)/src/", pathNot: TEST },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "no-cycles",
      comment: "files must not import each other in a circle",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "resolvable",
      comment: "an import must resolve: no other rule checks one that does not",
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

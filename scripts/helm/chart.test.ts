import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unknownVariables } from "@causeway/config";
import type { Container, PodSpec } from "kubernetes-types/core/v1.d.ts";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readApiConfig, readWorkerConfig } from "../../apps/api/src/config/config.ts";
import { httpSettings } from "../../apps/api/src/config/http.ts";
import { apiSettingGroups } from "../../apps/api/src/config/settings.ts";
import { readSignerConfig } from "../../apps/api/src/config/signer-config.ts";
import { oracleSettingGroups } from "../../apps/oracle/src/settings.ts";
import { root } from "../check/run-command.ts";
import { kubernetesProblems, renderChart, valueProblems, type Manifest } from "./chart.ts";
import { renderTemplates } from "./template.ts";

const image = `registry.test/causeway-api@sha256:${"ab".repeat(32)}`;
const minimal = {
  image,
  environment: "mainnets.prod",
  sharedSecrets: ["causeway-shared"],
  signer: { secrets: ["causeway-signer"] },
  worker: { secrets: ["causeway-worker"] },
};
const peer = { podSelector: { matchLabels: { app: "other" } } };
const full = {
  ...minimal,
  imagePullSecrets: [{ name: "registry" }],
  configMap: "causeway-configs",
  env: { TRUST_PROXY: "1", SOLVER_CHAIN_NAME: "base", LOG_LEVEL: "info" },
  api: {
    image: "registry.test/causeway-api:1.0.0",
    env: { LOG_LEVEL: "debug" },
    secrets: ["causeway-api"],
    serviceAccountName: "api",
    podAnnotations: { a: "b" },
    serviceAnnotations: { a: "b" },
  },
  worker: {
    replicas: 1,
    secrets: ["causeway-worker"],
    env: { SPENDING_LIMITS: '[{"dayUsd":"1"}]' },
    podAnnotations: { a: "b" },
  },
  paymentSigner: {
    enabled: true,
    secrets: ["causeway-payment-signer"],
    rulesSecret: "causeway-signing-rules",
    storageClassName: "block",
  },
  oracle: {
    enabled: true,
    image: "registry.test/causeway-oracle:1.0.0",
    env: { ORACLE_SIGNERS_THRESHOLD: "2" },
    secrets: ["causeway-oracle"],
    podAnnotations: { a: "b" },
    serviceAnnotations: { a: "b" },
  },
  metrics: {
    tokenSecret: "metrics",
    serviceMonitor: true,
    prometheusRule: true,
    labels: { release: "prometheus" },
  },
  networkPolicy: {
    clients: [peer],
    scrapers: [peer],
    postgres: { port: 5433, to: [peer] },
    redis: { port: 6380, to: [peer] },
    extraEgress: [{ ports: [{ protocol: "TCP", port: 8545 }] }],
  },
};

interface Pod {
  readonly component: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

interface Workload {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: PodSpec;
    };
  };
}

/** The pods of deployments and jobs. */
const podsOf = (manifests: readonly Manifest[]): readonly Pod[] =>
  manifests
    .filter(({ kind }) => kind === "Deployment" || kind === "Job")
    .map((manifest) => {
      const { metadata, spec } = (manifest as unknown as Workload).spec.template;
      return {
        component: metadata.labels["app.kubernetes.io/component"] ?? "",
        labels: metadata.labels,
        spec,
      };
    });

const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
];
const containerNamed = (pods: readonly Pod[], name: string): Container => {
  const container = pods.flatMap(containersOf).find((candidate) => candidate.name === name);
  if (container === undefined) throw new Error(`no container ${name}`);
  return container;
};

/** Secrets that a container mounts, by mount path. */
function secretsOf(pods: readonly Pod[], name: string): Readonly<Record<string, readonly string[]>> {
  const pod = pods.find((candidate) => containersOf(candidate).some((container) => container.name === name));
  const mounts = containerNamed(pods, name).volumeMounts ?? [];
  const volumes = pod?.spec.volumes ?? [];
  return Object.fromEntries(
    mounts.flatMap((mount) => {
      const volume = volumes.find((candidate) => candidate.name === mount.name);
      const secrets =
        volume?.projected?.sources?.map(({ secret }) => secret?.name ?? "") ?? volume?.secret?.secretName;
      return secrets === undefined ? [] : [[mount.mountPath, [secrets].flat()]];
    }),
  );
}

const solverPods = await renderChart(minimal).then(podsOf);
const everything = await renderChart(full);
const allPods = podsOf(everything);

test("every object has the fields and types of Kubernetes, with few values and with all", async () => {
  const monitors = new Set(["ServiceMonitor", "PrometheusRule"]);
  const objects = [...(await renderChart(minimal)), ...everything].filter(({ kind }) => !monitors.has(kind));
  expect(objects.length).toBeGreaterThan(20);
  expect(kubernetesProblems(objects)).toEqual([]);
  const broken = structuredClone(objects.slice(0, 1)) as (Manifest & { spec: Record<string, unknown> })[];
  for (const { spec } of broken) spec["replicass"] = 2;
  expect(kubernetesProblems(broken).join()).toContain("replicass");
});

test("names are unique, and every selector selects the pods of its component", () => {
  const ids = everything.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  expect(new Set(ids).size).toBe(ids.length);
  expect(allPods.map(({ component }) => component)).toEqual(["api", "migrate", "oracle", "worker"]);
  const selectors = everything.flatMap((manifest) => {
    const spec = manifest["spec"] as Record<string, { matchLabels?: Record<string, string> }>;
    if (["ServiceMonitor", "Job", "PrometheusRule", "PersistentVolumeClaim"].includes(manifest.kind))
      return [];
    const selector = spec["podSelector"] ?? spec["selector"];
    return [{ manifest, labels: (selector?.matchLabels ?? selector) as Record<string, string> }];
  });
  for (const { manifest, labels } of selectors) {
    const selected = allPods.filter((pod) =>
      Object.entries(labels).every(([name, value]) => pod.labels[name] === value),
    );
    expect(selected.map(({ component }) => `causeway-${component}`)).toEqual([manifest.metadata.name]);
  }
});

test("no container runs as root, writes to its image or gains privileges, and none gets a service account's token", () => {
  for (const pod of allPods) {
    expect(pod.spec.automountServiceAccountToken).toBe(false);
    expect(pod.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    for (const { securityContext, resources } of containersOf(pod)) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(resources?.limits?.["memory"]).toMatch(/\d(Mi|Gi)$/);
    }
  }
});

test("each process mounts its own secrets, and the solver's key is out of the API's reach", () => {
  expect(secretsOf(allPods, "migrate")).toEqual({ "/vault/secrets": ["causeway-shared"] });
  expect(secretsOf(allPods, "signer")).toEqual({ "/vault/secrets": ["causeway-signer"] });
  expect(secretsOf(allPods, "oracle")).toEqual({ "/vault/secrets": ["causeway-oracle"] });
  for (const name of ["api", "worker"])
    expect(secretsOf(allPods, name)).toEqual({
      "/vault/secrets": ["causeway-shared", `causeway-${name}`],
      "/vault/metrics": ["metrics"],
    });
  expect(allPods.map(({ spec }) => spec.shareProcessNamespace)).toEqual(allPods.map(() => undefined));
  const socket = ["api", "signer"].map((name) =>
    containerNamed(allPods, name).volumeMounts?.find(({ mountPath }) => mountPath === "/run/causeway"),
  );
  expect(socket).toEqual([
    { name: "socket", mountPath: "/run/causeway" },
    { name: "socket", mountPath: "/run/causeway" },
  ]);
});

test("the limited signer alone has its key, its rules and its record, and one worker alone uses it", async () => {
  expect(secretsOf(allPods, "payment-signer")).toEqual({
    "/vault/secrets": ["causeway-payment-signer"],
    "/vault/rules": ["causeway-signing-rules"],
  });
  const volumesOf = (name: string) =>
    containerNamed(allPods, name).volumeMounts?.map((mount) => mount.name) ?? [];
  const shared = volumesOf("payment-signer").filter((name) => volumesOf("worker").includes(name));
  expect(shared).toEqual(["tmp", "socket"]);
  const claim = everything.find(({ kind }) => kind === "PersistentVolumeClaim");
  expect(claim).toMatchObject({
    metadata: { name: "causeway-signing-record", annotations: { "helm.sh/resource-policy": "keep" } },
    spec: { accessModes: ["ReadWriteOncePod"], storageClassName: "block" },
  });
  const worker = everything.find(
    ({ kind, metadata }) => kind === "Deployment" && metadata.name === "causeway-worker",
  );
  expect(worker?.["spec"]).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
  const two = { ...full, worker: { ...full.worker, replicas: 2 } };
  expect((await valueProblems(two)).join()).toContain("/worker/replicas");
});

test("without the limited signer, the chart has no volume for its record, and two workers replace each other", async () => {
  const objects = await renderChart(minimal);
  expect(objects.filter(({ kind }) => kind === "PersistentVolumeClaim")).toEqual([]);
  const worker = objects.find(
    ({ metadata, kind }) => kind === "Deployment" && metadata.name === "causeway-worker",
  );
  expect(worker?.["spec"]).toMatchObject({ replicas: 2, strategy: { rollingUpdate: { maxSurge: 0 } } });
  expect(solverPods.flatMap(containersOf).map(({ name }) => name)).not.toContain("payment-signer");
});

/** Variables that a container gets, without those of its image. */
const variablesOf = (pods: readonly Pod[], name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (containerNamed(pods, name).env ?? []).map((variable) => [variable.name, variable.value ?? ""]),
  );

/** Variables that Kubernetes gives every pod. */
const KUBERNETES_VARIABLES = [
  "HOSTNAME",
  "KUBERNETES_SERVICE_HOST",
  "KUBERNETES_SERVICE_PORT",
  "KUBERNETES_SERVICE_PORT_HTTPS",
  "KUBERNETES_PORT",
  "KUBERNETES_PORT_443_TCP",
  "KUBERNETES_PORT_443_TCP_PROTO",
  "KUBERNETES_PORT_443_TCP_PORT",
  "KUBERNETES_PORT_443_TCP_ADDR",
];

/** Variables that the last stage of a Dockerfile sets. */
async function imageVariables(file: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(root, file), "utf8");
  const line = /^ENV (.*)$/m.exec(text)?.[1] ?? "";
  return Object.fromEntries(
    [...line.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

test("every variable is a setting, and every required setting has a place", async () => {
  const processes = [
    ["api", apiSettingGroups, "Dockerfile.api", ["DATABASE_URL"]],
    ["worker", apiSettingGroups, "Dockerfile.api", ["DATABASE_URL"]],
    ["oracle", oracleSettingGroups, "Dockerfile.oracle", []],
  ] as const;
  for (const [name, groups, dockerfile, inSecrets] of processes) {
    const settings = groups.flatMap((group) => Object.values(group.settings));
    const knownNames = new Set(
      settings.flatMap((setting) =>
        setting.fromFile ? [setting.name, `${setting.name}_FILE`] : [setting.name],
      ),
    );
    const variables = Object.keys(variablesOf(allPods, name));
    expect(variables.filter((variable) => !knownNames.has(variable))).toEqual([]);
    const kubernetesVariables = Object.fromEntries(KUBERNETES_VARIABLES.map((variable) => [variable, "x"]));
    const environment = { ...variablesOf(allPods, name), ...kubernetesVariables };
    expect(unknownVariables(environment, groups, join(root, "configs")).problems).toEqual([]);
    const available = new Set([...variables, ...Object.keys(await imageVariables(dockerfile))]);
    const required = settings
      .filter(({ whenAbsent }) => whenAbsent.kind === "required")
      .map((setting) => setting.name);
    expect(required.filter((requiredName) => !available.has(requiredName))).toEqual(inSecrets);
  }
  const values = await readFile(join(root, "deploy/helm/causeway/values.yaml"), "utf8");
  for (const name of ["DATABASE_URL", "REDIS_URL", "SOLVER_PRIVATE_KEY", "ECDSA_PRIVATE_KEY"])
    expect(values).toContain(name);
  expect(variablesOf(allPods, "signer")).toEqual({
    ENVIRONMENT: "mainnets.prod",
    ORDER_SIGNER_URL: "unix:///run/causeway/signer.sock",
  });
  expect(variablesOf(allPods, "worker")).not.toHaveProperty("ORDER_SIGNER_URL");
});

/** Lays Secrets out as Kubernetes mounts them: links into a hidden folder. */
async function mountSecrets(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(folder, "..2026"), { recursive: true });
  await symlink("..2026", join(folder, "..data"));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, "..2026", name), text);
    await symlink(join("..data", name), join(folder, name));
  }
}

test("API, signer and worker accept the chart's variables with the mounted secrets", async () => {
  const address = (digit: string) => `0x${digit.repeat(40)}`;
  const key = `0x${"1".repeat(64)}` as const;
  const pods = podsOf(
    await renderChart({
      ...minimal,
      environment: "testnets.prod",
      env: {
        TRUST_PROXY: "1",
        SOLVER_ADDRESS: privateKeyToAddress(key),
        SEPOLIA_DEPOSITORY_ADDRESS: address("1"),
        SEPOLIA_ROUTER_ADDRESS: address("2"),
        SEPOLIA_APPROVAL_PROXY_ADDRESS: address("3"),
        SEPOLIA_RECEIVER_ADDRESS: address("4"),
      },
      worker: {
        secrets: ["causeway-worker"],
        env: { SPENDING_LIMITS: '[{"key":"solver","dayUsd":"1000"}]' },
      },
    }),
  );
  const shared = [
    "DATABASE_URL=postgres://postgres/causeway",
    "REDIS_URL=redis://redis",
    "SEPOLIA_RPC_URL=https://node.test",
  ].join("\n");
  const folder = await mkdtemp(join(tmpdir(), "causeway-chart-"));
  try {
    const environmentOf = async (name: string, files: Readonly<Record<string, string>>) => {
      await mountSecrets(join(folder, name), files);
      return {
        ...(await imageVariables("Dockerfile.api")),
        ...variablesOf(pods, name),
        CONFIGS_DIR: join(root, "configs"),
        VAULT_SECRETS_DIR: join(folder, name),
      };
    };
    const secret = `SOLVER_PRIVATE_KEY=${key}`;
    const api = readApiConfig(await environmentOf("api", { "1-causeway-shared": shared }));
    const worker = readWorkerConfig(
      await environmentOf("worker", { "1-causeway-shared": shared, "2-causeway-worker": secret }),
    );
    for (const { chains } of [api, worker]) expect(chains.map(({ name }) => name)).toEqual(["sepolia"]);
    const signer = readSignerConfig(await environmentOf("signer", { "2-causeway-signer": secret }));
    expect(signer.endpoint).toEqual({ kind: "socket", path: "/run/causeway/signer.sock" });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("limited signer and worker accept the chart's variables, with the key in the signer's Secret alone", async () => {
  const key = `0x${"1".repeat(64)}` as const;
  const pods = podsOf(
    await renderChart({
      ...full,
      environment: "testnets.prod",
      env: {
        TRUST_PROXY: "1",
        SOLVER_ADDRESS: privateKeyToAddress(key),
        SEPOLIA_DEPOSITORY_ADDRESS: `0x${"1".repeat(40)}`,
        SEPOLIA_ROUTER_ADDRESS: `0x${"2".repeat(40)}`,
        SEPOLIA_APPROVAL_PROXY_ADDRESS: `0x${"3".repeat(40)}`,
        SEPOLIA_RECEIVER_ADDRESS: `0x${"4".repeat(40)}`,
      },
      metrics: {},
    }),
  );
  const folder = await mkdtemp(join(tmpdir(), "causeway-chart-"));
  try {
    const environmentOf = async (name: string, file: string) => {
      await mountSecrets(join(folder, name), { "1-secret": file });
      return {
        ...(await imageVariables("Dockerfile.api")),
        ...variablesOf(pods, name),
        CONFIGS_DIR: join(root, "configs"),
        VAULT_SECRETS_DIR: join(folder, name),
      };
    };
    const rules = join(folder, "rules.json");
    const page = await readFile(join(root, "docs/operations/keys.md"), "utf8");
    const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    await writeFile(rules, example.replaceAll("0x…", `0x${"2".repeat(40)}`));
    const signer = readSignerConfig({
      ...(await environmentOf("payment-signer", `SOLVER_PRIVATE_KEY=${key}`)),
      SIGNING_RULES_FILE: rules,
    });
    expect(signer.endpoint).toEqual({ kind: "socket", path: "/run/causeway/payments.sock" });
    expect(signer.signing?.recordPath).toBe("/var/lib/causeway/signed");
    const shared = [
      "DATABASE_URL=postgres://postgres/causeway",
      "REDIS_URL=redis://redis",
      "SEPOLIA_RPC_URL=https://node.test",
    ].join("\n");
    const worker = readWorkerConfig(await environmentOf("worker", shared));
    expect(worker.chains.map(({ name }) => name)).toEqual(["sepolia"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("probes and services use the ports that the images listen on", async () => {
  const { HTTP_PORT, HEALTH_PORT } = await imageVariables("Dockerfile.api");
  const portOf = (name: string) => `${containerNamed(allPods, name).ports?.[0]?.containerPort}`;
  expect([portOf("api"), portOf("worker")]).toEqual([HTTP_PORT, HEALTH_PORT]);
  expect(portOf("oracle")).toBe(variablesOf(allPods, "oracle")["HTTP_PORT"]);
  for (const name of ["api", "worker", "oracle"]) {
    const { startupProbe, livenessProbe, readinessProbe } = containerNamed(allPods, name);
    for (const probe of [startupProbe, livenessProbe, readinessProbe])
      expect(probe?.httpGet?.port).toBe("http");
  }
});

test("a process's own setting replaces the shared one", () => {
  const levels = ["api", "worker"].map((name) =>
    containerNamed(allPods, name).env?.filter((variable) => variable.name === "LOG_LEVEL"),
  );
  expect(levels).toEqual([[{ name: "LOG_LEVEL", value: "debug" }], [{ name: "LOG_LEVEL", value: "info" }]]);
});

test("a pod's grace period exceeds the shutdown time of its processes", () => {
  const { whenAbsent } = httpSettings.shutdownTimeoutMs;
  const shutdownSeconds = whenAbsent.kind === "value" ? whenAbsent.value / 1000 : Number.POSITIVE_INFINITY;
  const beforeStop = 5;
  for (const { spec } of solverPods)
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(shutdownSeconds + beforeStop);
});

test("the migration runs before an upgrade, and only the pods that need the database can reach it", () => {
  const migration = everything.find(({ kind }) => kind === "Job");
  expect(migration?.metadata).toMatchObject({ annotations: { "helm.sh/hook": "pre-install,pre-upgrade" } });
  const policies = everything.filter(({ kind }) => kind === "NetworkPolicy");
  const ports = policies.map(({ metadata, spec }) => [
    metadata.name,
    (spec as { egress: { ports: { port: number }[] }[] }).egress.flatMap((rule) =>
      rule.ports.map(({ port }) => port),
    ),
  ]);
  expect(Object.fromEntries(ports)).toEqual({
    "causeway-migrate": [53, 53, 5433],
    "causeway-api": [53, 53, 5433, 6380, 443, 8545],
    "causeway-worker": [53, 53, 5433, 6380, 443, 8545],
    "causeway-oracle": [53, 53, 443, 8545],
  });
});

test("Prometheus finds the jobs that the rules expect, and the rules are those of deploy/prometheus", async () => {
  const services = everything.filter(({ kind }) => kind === "Service");
  const jobs = services.flatMap(
    ({ metadata }) => (metadata as { labels?: Record<string, string> }).labels?.["causeway-job"] ?? [],
  );
  expect(jobs).toEqual(["causeway-api", "causeway-worker"]);
  const monitor = everything.find(({ kind }) => kind === "ServiceMonitor");
  expect(monitor?.["spec"]).toMatchObject({
    jobLabel: "causeway-job",
    endpoints: [{ path: "/metrics", port: "http" }],
  });
  const rules: unknown = parse(await readFile(join(root, "deploy/prometheus/rules.yml"), "utf8"));
  expect(everything.find(({ kind }) => kind === "PrometheusRule")?.["spec"]).toEqual(rules);
});

test("an oracle can be a separate release", async () => {
  const off = { enabled: false };
  const values = {
    environment: "mainnets.prod",
    migration: off,
    api: off,
    worker: off,
    oracle: { enabled: true, image, secrets: ["causeway-oracle"] },
  };
  expect(await valueProblems(values)).toEqual([]);
  expect(podsOf(await renderChart(values)).map(({ component }) => component)).toEqual(["oracle"]);
});

test("values with and without optional parts are accepted", async () => {
  expect(await valueProblems(minimal)).toEqual([]);
  expect(await valueProblems(full)).toEqual([]);
});

test("the values in docs/operations/kubernetes.md are accepted, and render", async () => {
  const page = await readFile(join(root, "docs/operations/kubernetes.md"), "utf8");
  const [values = {}, limits = {}] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
    ([, block = ""]) =>
      parse(block.replaceAll("sha256:…", `sha256:${"ab".repeat(32)}`)) as Record<string, object>,
  );
  expect(await valueProblems(values)).toEqual([]);
  const worker = { ...values["worker"], ...limits["worker"] };
  expect(await valueProblems({ ...values, ...limits, worker })).toEqual([]);
  expect(Object.keys(limits)).toEqual(["worker", "paymentSigner"]);
  expect(podsOf(await renderChart(values)).map(({ component }) => component)).toEqual([
    "api",
    "migrate",
    "worker",
  ]);
});

test.each([
  ["no image", { image: "" }, "/image"],
  ["an image that neither a tag nor a digest fixes", { image: "registry.test/causeway-api" }, "/image"],
  ["a misspelled value", { wroker: {} }, "must NOT have additional properties"],
  ["a signer without a key", { signer: { secrets: [] } }, "/signer/secrets"],
  ["a number, which YAML may round", { env: { HUB_CHAIN_ID: 72100339 } }, "/env/HUB_CHAIN_ID must be string"],
  [
    "a limited signer without rules",
    { worker: { replicas: 1, secrets: ["w"] }, paymentSigner: { enabled: true, secrets: ["p"] } },
    "/paymentSigner/rulesSecret",
  ],
  ["a private key", { worker: { env: { SOLVER_PRIVATE_KEY: "x" } } }, "SOLVER_PRIVATE_KEY"],
  ["a URL with credentials", { env: { BASE_RPC_URL: "x" } }, "BASE_RPC_URL"],
  ["a port that the chart sets", { api: { env: { HTTP_PORT: "1" } } }, "HTTP_PORT"],
  ["a monitor without a token", { metrics: { serviceMonitor: true } }, "/metrics/tokenSecret"],
])("refuses %s", async (_name, overrides, problem) => {
  expect((await valueProblems({ ...minimal, ...overrides })).join("; ")).toContain(problem);
});

test("no secret of the API or the oracle can be a value of the chart", async () => {
  const secrets = [...apiSettingGroups, ...oracleSettingGroups].flatMap((group) =>
    Object.values(group.settings)
      .filter((setting) => /secret/.test(setting.kind))
      .map((setting) => setting.name),
  );
  expect(secrets.length).toBeGreaterThan(20);
  const accepted: string[] = [];
  for (const name of new Set(secrets))
    if ((await valueProblems({ ...minimal, env: { [name]: "x" } })).length === 0) accepted.push(name);
  expect(accepted).toEqual([]);
});

test("every other setting can be one, unless the chart sets it", async () => {
  const chartSets = [
    "ENVIRONMENT",
    "CONFIGS_DIR",
    "VAULT_SECRETS_DIR",
    "HTTP_HOST",
    "HTTP_PORT",
    "HEALTH_PORT",
  ];
  const names = [...apiSettingGroups, ...oracleSettingGroups].flatMap((group) =>
    Object.values(group.settings).flatMap((setting) => (/secret/.test(setting.kind) ? [] : [setting.name])),
  );
  const refused: string[] = [];
  for (const name of new Set([...names, "BASE_DEPOSITORY_ADDRESS"]))
    if ((await valueProblems({ ...minimal, env: { [name]: "x" } })).length > 0) refused.push(name);
  expect(refused.filter((name) => !chartSets.includes(name))).toEqual(["ORDER_SIGNER_URL"]);
});

test.each([
  ["{{ lookup .Values.a }}", "unknown function: lookup"],
  ["{{ .Values.b.c }}", "no field c"],
  ["{{ $missing }}", "undefined variable"],
  ["{{ .Values.a `raw` }}", "not supported by this renderer"],
  ["{{ if .Values.a }}", "blocks without an end"],
  ["{{ .Values.map }}", "expected text"],
])("the renderer refuses %s instead of guessing", (text, problem) => {
  const render = () => renderTemplates(new Map([["a.yaml", text]]), { Values: { a: "1", map: {} } });
  expect(render).toThrow(problem);
});

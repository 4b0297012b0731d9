import { awsKmsSigner, rawKeySigner, readPeerList, readSignerPolicy } from "@causeway/attest";
import type { AwsCredentials, PeerEndpoint, QuorumPolicy, Signer, SignerPolicy } from "@causeway/attest";
import type { Env, SettingValues } from "@causeway/config";
import {
  ConfigError,
  gather,
  isLocalKey,
  loadHub,
  noChainProblems,
  readAttestationChains,
  readSettings,
  traceSettings,
  traceTarget,
  unknownVariables,
  withVaultSecrets,
} from "@causeway/config";
import { NATIVE_CURRENCY, type AttestationHub, type Hex } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import type { TraceTarget, TrustedProxies } from "@causeway/service-kit";
import { readApiKeys } from "./api-key-list.ts";
import type { CallBounds } from "./usecases/limit-concurrent-calls.ts";
import {
  httpSettings,
  locationSettings,
  oracleSettingGroups,
  peerSettings,
  signerSettings,
} from "./settings.ts";

/** The environment in which everything runs on one machine with publicly known keys. */
const LOCAL = "local";

/** The names that AWS's own tools use. */
const AWS = {
  accessKeyId: "AWS_ACCESS_KEY_ID",
  secretAccessKey: "AWS_SECRET_ACCESS_KEY",
  sessionToken: "AWS_SESSION_TOKEN",
  endpoint: "AWS_ENDPOINT_URL_KMS",
} as const;

/** The configuration of an oracle. */
export interface OracleConfig {
  readonly environment: string;
  readonly signer: Signer & { close?(): void };
  readonly policy: QuorumPolicy;
  readonly peers: readonly PeerEndpoint[];
  readonly peerTimeoutMs: number;
  /** Label by key. Undefined: no key is required. */
  readonly apiKeys: ReadonlyMap<string, string> | undefined;
  readonly shadow: boolean;
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly metricsOpen: boolean;
    readonly responseCheck: boolean;
    readonly trustProxy: TrustedProxies;
  };
  readonly callBounds: CallBounds;
  readonly requestDeadlineMs: number;
  readonly logFormat: "json" | "pretty";
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
  readonly shutdownTimeoutMs: number;
  /** Undefined: no traces. */
  readonly traces: TraceTarget | undefined;
  /** Enabled chains, never empty. */
  readonly chains: readonly ConfiguredChain[];
  /** Names of chains without variables, which are disabled. */
  readonly offChains: readonly string[];
  readonly hub: AttestationHub;
  /** Logged at startup. */
  readonly warnings: readonly string[];
  /** Texts that no log line may contain. */
  readonly secrets: readonly string[];
}

type SignerSettings = SettingValues<typeof signerSettings>;

/**
 * Reads the environment, the secrets folder and the files of `CONFIGS_DIR`, and the address of the key from
 * the key service.
 * @throws ConfigError with all problems; none contains a secret
 */
export async function readOracleConfig(processEnv: Env): Promise<OracleConfig> {
  const problems: string[] = [];
  const warnings: string[] = [];
  const read = <T>(part: () => T): T | undefined => gather(problems, part);

  const env = read(() => withPort(withVaultSecrets(processEnv)));
  if (env === undefined) throw new ConfigError(problems);
  const location = read(() => readSettings(locationSettings, env));
  const signerValues = read(() => readSettings(signerSettings, env));
  const peerValues = read(() => readSettings(peerSettings, env));
  const http = read(() => readSettings(httpSettings, env));
  const traces = read(() => traceTarget(readSettings(traceSettings, env)));
  const loaded = location && read(() => readAttestationChains({ ...location, env }));
  problems.push(...(loaded?.problems ?? []));
  const hub = location && read(() => loadHub({ ...location, env }));

  if (loaded?.chains.length === 0 && loaded.problems.length === 0) problems.push(...noChainProblems(loaded));
  // Read lists even if another variable of their group is invalid, so that all problems are reported
  // together.
  const listSettings = read(() =>
    readSettings({ peers: peerSettings.peers, apiKeys: httpSettings.apiKeys }, env),
  );
  const peers = readPeerList(listSettings?.peers?.reveal() ?? "");
  problems.push(...peers.problems);
  const apiKeys =
    listSettings?.apiKeys === undefined ? undefined : readApiKeys(listSettings.apiKeys.reveal());
  problems.push(...(apiKeys?.problems ?? []));
  if (http !== undefined && apiKeys === undefined)
    warnings.push("API_KEYS is not set: any client that can reach this service can use it");
  if (hub !== undefined && loaded?.chains.some(({ name }) => name === hub.hub.name) === true)
    problems.push(`hub.name ${hub.hub.name} is already the name of a chain`);
  if (signerValues !== undefined && env["SIGNING_MODULE"] === undefined)
    warnings.push("SIGNING_MODULE is not set; using raw-private-key");

  const signer = signerValues && (await signerOf(signerValues, env, location?.environment, problems));
  const policy = policyOf(env, signer);
  problems.push(...policy.problems);
  if (peerValues && peers.peers.length > 0 && http && http.requestDeadlineMs > peerValues.peerTimeoutMs)
    warnings.push(
      "REQUEST_DEADLINE_MS exceeds PEER_REQUEST_TIMEOUT_MS: peers with the same settings time out earlier",
    );

  const unknown = unknownVariables(env, oracleSettingGroups, env["CONFIGS_DIR"] ?? "configs");
  problems.push(...unknown.problems);
  if (problems.length > 0) {
    signer?.close?.();
    throw new ConfigError([...new Set(problems), ...unknown.warnings]);
  }
  if (
    !location ||
    !signerValues ||
    !peerValues ||
    !http ||
    !loaded ||
    !hub ||
    !signer ||
    policy.policy === undefined
  )
    throw new ConfigError([
      "invariant violated: part of the configuration is missing without a reported problem",
    ]);

  return {
    environment: location.environment,
    signer,
    policy: policy.policy,
    peers: peers.peers,
    peerTimeoutMs: peerValues.peerTimeoutMs,
    apiKeys: apiKeys?.keys,
    shadow: peerValues.shadow,
    http: {
      host: http.httpHost,
      port: http.httpPort,
      metricsOpen: http.metricsOpen,
      responseCheck: http.responseCheck,
      trustProxy: http.trustProxy,
    },
    callBounds: { perCaller: http.maxCallsPerKey, total: http.maxCalls },
    requestDeadlineMs: http.requestDeadlineMs,
    logLevel: http.logLevel,
    logFormat: http.logFormat,
    shutdownTimeoutMs: http.shutdownTimeoutMs,
    traces,
    chains: loaded.chains,
    offChains: loaded.unconfiguredChains,
    hub: hub.hub,
    warnings: [...warnings, ...unknown.warnings, ...policy.warnings, ...loaded.warnings, ...hub.warnings],
    secrets: [
      ...loaded.chains.flatMap(({ rpcUrls }) => rpcUrls),
      hub.hub.rpcUrl,
      ...peers.peers.flatMap(({ credential }) => credential ?? []),
      ...(apiKeys?.keys.keys() ?? []),
      ...(traces === undefined ? [] : [traces.url, ...Object.values(traces.headers)]),
    ],
  };
}

/** Without a signer (reported separately), checks everything but its membership in the list. */
function policyOf(env: Env, signer: Signer | undefined): SignerPolicy {
  const { signers } = readSettings({ signers: peerSettings.signers }, env);
  // The raw text: a number with surrounding spaces is not accepted.
  const threshold = env[peerSettings.threshold.name];
  const policy = readSignerPolicy({ signers, threshold, localSigner: signer?.address ?? NATIVE_CURRENCY });
  if (signer !== undefined) return policy;
  const problems = policy.problems.filter((problem) => !problem.includes("the local signer"));
  return { ...policy, policy: undefined, problems };
}

/** `HTTP_PORT`, else `PORT`. */
function withPort(env: Record<string, string | undefined>): Env {
  const httpPort = env["HTTP_PORT"]?.trim() ?? "";
  return { ...env, HTTP_PORT: httpPort === "" ? env["PORT"] : httpPort };
}

async function signerOf(
  { signingModule, privateKey, kmsKeyId, kmsKeyRegion }: SignerSettings,
  env: Env,
  environment: string | undefined,
  problems: string[],
): Promise<(Signer & { close?(): void }) | undefined> {
  if (signingModule === "aws-kms") {
    if (kmsKeyId === undefined)
      problems.push("AWS_KMS_SIGNER_KEY_ID is required with SIGNING_MODULE aws-kms");
    if (kmsKeyRegion === undefined)
      problems.push("AWS_KMS_SIGNER_KEY_REGION is required with SIGNING_MODULE aws-kms");
    const aws = awsCredentials(env);
    problems.push(...aws.problems);
    if (kmsKeyId === undefined || kmsKeyRegion === undefined || aws.problems.length > 0) return undefined;
    return await openSigner(
      problems,
      "AWS KMS key is unusable",
      async () =>
        await awsKmsSigner({
          keyId: kmsKeyId,
          region: kmsKeyRegion,
          endpoint: nonEmpty(env, AWS.endpoint),
          credentials: aws.credentials,
        }),
    );
  }
  if (privateKey === undefined) {
    problems.push("ECDSA_PRIVATE_KEY is required with SIGNING_MODULE raw-private-key");
    return undefined;
  }
  if (environment !== undefined && environment !== LOCAL && isLocalKey(privateKey.reveal()))
    problems.push(
      `ECDSA_PRIVATE_KEY is a publicly known key of local systems and not allowed in ENVIRONMENT ${environment}`,
    );
  return await openSigner(problems, "ECDSA_PRIVATE_KEY", async () =>
    rawKeySigner(privateKey.reveal() as Hex),
  );
}

/**
 * Credentials are passed explicitly, because AWS's client would read the process environment, which lacks the
 * values of the secrets folder. Without credentials here, the client searches elsewhere, as for a role.
 */
function awsCredentials(env: Env): {
  readonly credentials?: AwsCredentials;
  readonly problems: readonly string[];
} {
  const accessKeyId = nonEmpty(env, AWS.accessKeyId);
  const secretAccessKey = nonEmpty(env, AWS.secretAccessKey);
  if (accessKeyId === undefined && secretAccessKey === undefined) return { problems: [] };
  if (accessKeyId === undefined)
    return { problems: [`${AWS.accessKeyId} is required with ${AWS.secretAccessKey}`] };
  if (secretAccessKey === undefined)
    return { problems: [`${AWS.secretAccessKey} is required with ${AWS.accessKeyId}`] };
  const sessionToken = nonEmpty(env, AWS.sessionToken);
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, problems: [] };
}

function nonEmpty(env: Env, name: string): string | undefined {
  const text = env[name]?.trim() ?? "";
  return text === "" ? undefined : text;
}

/** Opens the signer; if that fails, reports its error, whose message is safe to show. */
async function openSigner<S extends Signer>(
  problems: string[],
  what: string,
  open: () => Promise<S>,
): Promise<S | undefined> {
  try {
    return await open();
  } catch (error) {
    problems.push(`${what}: ${error instanceof Error ? error.message : "unknown error"}`);
    return undefined;
  }
}

import type { Env, Secret, SettingValues } from "@causeway/config";
import { ConfigError, deepFreeze, gather, readGroups, requireAll, withVaultSecrets } from "@causeway/config";
import { resolveEvmAccount, resolveSolver } from "./evm-account.ts";
import { httpSettings } from "./http.ts";
import { keyServiceSettings, readKeyServices, type KeyServices } from "./key-services.ts";
import type { SigningKey } from "./key-source.ts";
import { readSignerEndpoint, type OrderSigning } from "./order-signing.ts";
import { publicKeyProblems } from "./own-accounts.ts";
import type { SigningRules } from "../payments/limited-signing/signing-rules.port.ts";
import { locationSettings } from "./settings.ts";
import { readSigningRules } from "./signing-rules.ts";
import { solverSettings } from "./solver.ts";

const { logLevel, logFormat, shutdownTimeoutMs } = httpSettings;
const { orderSignerUrl, orderSignerToken, signingRules, signingRecord } = solverSettings;
const { solverPrivateKey, solverSigner, solverAddress } = solverSettings;
const { executorPrivateKey, executorSigner, executorAddress } = solverSettings;

/** The settings that the signer process reads. */
const signerGroups = {
  location: { environment: locationSettings.environment },
  http: { logLevel, logFormat, shutdownTimeoutMs },
  solver: { solverPrivateKey, solverSigner, solverAddress, orderSignerUrl, orderSignerToken },
  executor: { executorPrivateKey, executorSigner, executorAddress },
  signing: { signingRules, signingRecord },
  keyServices: keyServiceSettings,
};

/** The configuration of the signer process: its key, where it listens, and what it may sign. Frozen. */
export interface SignerConfig
  extends
    Pick<SettingValues<typeof httpSettings>, "logLevel" | "logFormat" | "shutdownTimeoutMs">,
    Pick<Extract<OrderSigning, { kind: "process" }>, "endpoint" | "token"> {
  readonly key: SigningKey;
  readonly keyServices: KeyServices;
  /** Undefined: the process signs only orders. */
  readonly signing: { readonly rules: SigningRules; readonly recordPath: string } | undefined;
}

/** Reads the environment and the secrets directory. @throws ConfigError with all problems */
export function readSignerConfig(processEnv: Env): SignerConfig {
  const env = withVaultSecrets(processEnv);
  const { location, http, solver, executor, signing, keyServices } = readGroups(signerGroups, env);
  const problems: string[] = [];
  const limited = gather(problems, () => readSigning(signing.signingRules, signing.signingRecord));
  const key = gather(problems, () =>
    limited?.signing?.rules.key === "executor" ? executorKey(executor) : solverKey(solver),
  );
  const listening = gather(problems, () => {
    const endpoint = readSignerEndpoint(solver);
    if (endpoint === undefined)
      throw new ConfigError([
        "ORDER_SIGNER_URL is required: unix:///<path>, or http://127.0.0.1:<port> with ORDER_SIGNER_TOKEN",
      ]);
    return endpoint;
  });
  const services = gather(problems, () => readKeyServices(keyServices, env));
  if (location.environment !== "local")
    problems.push(...publicKeyProblems({ ...solver, ...executor }, location.environment));
  const parts = requireAll({ key, listening, services, limited }, problems);
  const { endpoint, token } = parts.listening;
  const { signing: limitedSigning } = parts.limited;
  return deepFreeze({
    ...http,
    key: parts.key,
    keyServices: parts.services,
    endpoint,
    token,
    signing: limitedSigning,
  });
}

function solverKey(settings: SettingValues<typeof signerGroups.solver>): SigningKey | undefined {
  const { solverPrivateKey: privateKey, solverSigner: signer, solverAddress: address } = settings;
  return resolveSolver("worker", { privateKey, signer, address }, false).key;
}

function executorKey(settings: SettingValues<typeof signerGroups.executor>): SigningKey {
  const { executorPrivateKey: privateKey, executorSigner: signer, executorAddress: address } = settings;
  const { keys } = resolveEvmAccount("worker", { prefix: "EXECUTOR", privateKey, signer, address });
  const [key] = keys;
  if (key === undefined)
    throw new ConfigError([
      "EXECUTOR_PRIVATE_KEY, or EXECUTOR_SIGNER and EXECUTOR_ADDRESS, is required when `key` in SIGNING_RULES is executor",
    ]);
  return key;
}

function readSigning(
  rules: Secret | undefined,
  recordPath: string | undefined,
): Pick<SignerConfig, "signing"> {
  if (rules === undefined) return { signing: undefined };
  if (recordPath === undefined)
    throw new ConfigError([
      "SIGNING_RECORD is required with SIGNING_RULES: the path of the file that counts what was signed",
    ]);
  return { signing: { rules: readSigningRules(rules.reveal()), recordPath } };
}

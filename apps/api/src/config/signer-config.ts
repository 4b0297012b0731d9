import type { Env, SettingValues } from "@causeway/config";
import { ConfigError, deepFreeze, gather, readGroups, requireAll, withVaultSecrets } from "@causeway/config";
import { resolveSolver } from "./evm-account.ts";
import { httpSettings } from "./http.ts";
import { keyServiceSettings, readKeyServices, type KeyServices } from "./key-services.ts";
import type { SigningKey } from "./key-source.ts";
import { readSignerPlace, type OrderSigning } from "./order-signing.ts";
import { publicKeyProblems } from "./own-accounts.ts";
import { locationSettings } from "./settings.ts";
import { solverSettings } from "./solver.ts";

const { logLevel, logFormat, shutdownTimeoutMs } = httpSettings;
const { solverPrivateKey, solverSigner, solverAddress, orderSignerUrl, orderSignerToken } = solverSettings;

/** The settings that the signer process reads. */
const signerGroups = {
  location: { environment: locationSettings.environment },
  http: { logLevel, logFormat, shutdownTimeoutMs },
  solver: { solverPrivateKey, solverSigner, solverAddress, orderSignerUrl, orderSignerToken },
  keyServices: keyServiceSettings,
};

/** The configuration of the signer process: the solver's key and where it listens. Frozen. */
export interface SignerConfig
  extends
    Pick<SettingValues<typeof httpSettings>, "logLevel" | "logFormat" | "shutdownTimeoutMs">,
    Pick<Extract<OrderSigning, { kind: "process" }>, "place" | "token"> {
  readonly key: SigningKey;
  readonly keyServices: KeyServices;
}

/** Reads the environment and the secrets directory. @throws ConfigError with all problems */
export function readSignerConfig(processEnv: Env): SignerConfig {
  const env = withVaultSecrets(processEnv);
  const { location, http, solver, keyServices } = readGroups(signerGroups, env);
  const problems: string[] = [];
  const resolved = gather(problems, () =>
    resolveSolver(
      "worker",
      { privateKey: solver.solverPrivateKey, signer: solver.solverSigner, address: solver.solverAddress },
      false,
    ),
  );
  const listening = gather(problems, () => {
    const place = readSignerPlace(solver);
    if (place === undefined)
      throw new ConfigError([
        "ORDER_SIGNER_URL is required: unix:///<path>, or http://127.0.0.1:<port> with ORDER_SIGNER_TOKEN",
      ]);
    return place;
  });
  const services = gather(problems, () => readKeyServices(keyServices, env));
  if (location.environment !== "local") problems.push(...publicKeyProblems(solver, location.environment));
  const read = requireAll({ key: resolved?.key, listening, services }, problems);
  const { place, token } = read.listening;
  return deepFreeze({ ...http, key: read.key, keyServices: read.services, place, token });
}

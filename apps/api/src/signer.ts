import { ConfigError, takeEnvironment } from "@causeway/config";
import { readSignerConfig, type SignerConfig } from "./config/signer-config.ts";
import { runSigner } from "./process/signer.ts";

let config: SignerConfig | undefined;
try {
  config = readSignerConfig(takeEnvironment(process.env));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
if (config !== undefined) await runSigner(config);

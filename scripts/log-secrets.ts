// Searches the logs of every local system that the suite has run for the secrets of that run.
import { LOCAL_KEYS_PER_ROLE, LOCAL_ROLES, localPrivateKey } from "@causeway/config";
import { localOperatorToken } from "@causeway/localnet";
import { repositoryRoot } from "@causeway/testkit";
import { glob, readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { generatedSecrets, secretsIn, type Secret } from "./check/secrets-in.ts";

const ORACLES = 3;

const secrets: readonly Secret[] = [
  ...LOCAL_ROLES.flatMap((role) =>
    Array.from({ length: LOCAL_KEYS_PER_ROLE }, (_, n) => ({
      name: `the key of ${role} ${n}`,
      pattern: localPrivateKey(role, n).slice(2),
    })),
  ),
  { name: "the operator's token", pattern: localOperatorToken },
  ...Array.from({ length: ORACLES }, (_, n) => ({
    name: `the API key of oracle ${n + 1}`,
    pattern: `local-oracle-${n + 1}-key-for-local-tools`,
  })),
  ...generatedSecrets,
];

const readFiles: string[] = [];
const findings: string[] = [];
for await (const file of glob(join(repositoryRoot, ".localnet", "*", "logs", "*.log"))) {
  readFiles.push(file);
  for (const name of secretsIn(await readFile(file, "utf8"), secrets))
    findings.push(`${relative(repositoryRoot, file)} contains ${name}`);
}

// Without the logs of the services the check proves nothing.
const services = ["api", "worker", "oracle"];
const missingServices = services.filter(
  (service) => !readFiles.some((file) => basename(file).startsWith(`${service}-`)),
);
for (const line of findings) console.error(line);
for (const service of missingServices)
  console.error(`no ${service} log found; run the end-to-end tests first`);
console.log(`logs: ${readFiles.length} files checked for ${secrets.length} secrets and their encodings`);
if (findings.length + missingServices.length > 0) process.exitCode = 1;

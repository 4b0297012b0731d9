import type { Env } from "./env.ts";

/** Variables that Node.js, the C library and AWS's client read directly. */
const KEPT_VARIABLES: readonly RegExp[] = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|HOSTNAME|TERM|TZ|LANG|LANGUAGE|TMPDIR|NO_COLOR|FORCE_COLOR)$/,
  /^(LC|NODE|UV|LD|MALLOC|SSL|OPENSSL)_/,
  /^AWS_(?!(SECRET_ACCESS_KEY|SESSION_TOKEN)$)/,
];

/**
 * Moves the environment of the process into a value, so that libraries, diagnostic reports and child
 * processes no longer find secrets in `process.env`. It lists the variables to keep, not the secrets, because
 * chain files may use any variable, and an environment file also contains variables of other processes.
 */
export function takeEnvironment(processEnv: NodeJS.ProcessEnv): Env {
  const environment = { ...processEnv };
  for (const name of Object.keys(environment))
    if (!KEPT_VARIABLES.some((pattern) => pattern.test(name))) Reflect.deleteProperty(processEnv, name);
  return environment;
}

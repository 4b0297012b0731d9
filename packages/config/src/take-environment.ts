import type { Env } from "./env.ts";

/** What Node.js, the C library and AWS's client read by themselves. */
const KEPT: readonly RegExp[] = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|HOSTNAME|TERM|TZ|LANG|LANGUAGE|TMPDIR|NO_COLOR|FORCE_COLOR)$/,
  /^(LC|NODE|UV|LD|MALLOC|SSL|OPENSSL)_/,
  /^AWS_(?!(SECRET_ACCESS_KEY|SESSION_TOKEN)$)/,
];

/**
 * Moves the environment of the process into a value: libraries, diagnostic reports and child processes find
 * no secret in `process.env` any more. By what is kept, not by names of secrets: chain files may name any
 * variable, and an environment file holds what other processes need.
 */
export function takeEnvironment(processEnv: NodeJS.ProcessEnv): Env {
  const taken = { ...processEnv };
  for (const name of Object.keys(taken))
    if (!KEPT.some((pattern) => pattern.test(name))) Reflect.deleteProperty(processEnv, name);
  return taken;
}

/** Variables that name an external service, started by the user, and the schemes of their URLs. */
const schemes = {
  DATABASE_URL: ["postgres:", "postgresql:"],
  REDIS_URL: ["redis:", "rediss:"],
  LOCAL_A_RPC_URL: ["http:", "https:"],
  LOCAL_A_WS_URL: ["ws:", "wss:"],
  LOCAL_B_RPC_URL: ["http:", "https:"],
  LOCAL_B_WS_URL: ["ws:", "wss:"],
} as const;

export type ExternalService = keyof typeof schemes;

/**
 * The server that a variable names cannot be used. The message begins with the variable and never quotes its
 * value.
 */
export class ExternalServiceUnusable extends Error {
  override readonly name = "ExternalServiceUnusable";
  readonly code = "EXTERNAL_SERVICE_UNUSABLE";
  readonly variable: ExternalService | "LOCAL_FUNDING_PRIVATE_KEY";

  constructor(variable: ExternalServiceUnusable["variable"], reason: string, options?: ErrorOptions) {
    super(`${variable}: ${reason}`, options);
    this.variable = variable;
  }
}

/** The URL in the variable; undefined if it is unset. */
export function externalUrl(
  env: Readonly<Record<string, string | undefined>>,
  variable: ExternalService,
): string | undefined {
  const value = env[variable];
  return value === "" ? undefined : value;
}

/**
 * Checks the URLs of external services without connecting, before anything is started.
 *
 * @throws ExternalServiceUnusable if one has an unexpected scheme
 */
export function checkExternalUrls(env: Readonly<Record<string, string | undefined>>): void {
  for (const variable of Object.keys(schemes) as ExternalService[]) {
    const url = externalUrl(env, variable);
    if (url !== undefined) checkScheme(variable, url);
  }
}

function checkScheme(variable: ExternalService, url: string): void {
  const expectedSchemes: readonly string[] = schemes[variable];
  if (URL.canParse(url) && expectedSchemes.includes(new URL(url).protocol)) return;
  const forms = expectedSchemes.map((scheme) => `${scheme}//…`).join(" or ");
  throw new ExternalServiceUnusable(variable, `must be a URL like ${forms}`);
}

/**
 * Tries to use an external service.
 *
 * @throws ExternalServiceUnusable if its URL has an unexpected scheme, or `attempt` fails
 */
export async function tryExternal(
  variable: ExternalService,
  url: string,
  attempt: (url: string) => Promise<void>,
): Promise<void> {
  checkScheme(variable, url);
  try {
    await attempt(url);
  } catch (error) {
    throw new ExternalServiceUnusable(variable, reasonOf(error), { cause: error });
  }
}

/** If both addresses of a host refuse, the error has no message, but contains one error per address. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

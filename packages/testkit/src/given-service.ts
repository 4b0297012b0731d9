/** Variables that name a server of the user, and the schemes of their URLs. */
const schemes = {
  DATABASE_URL: ["postgres:", "postgresql:"],
  REDIS_URL: ["redis:", "rediss:"],
  LOCAL_A_RPC_URL: ["http:", "https:"],
  LOCAL_A_WS_URL: ["ws:", "wss:"],
  LOCAL_B_RPC_URL: ["http:", "https:"],
  LOCAL_B_WS_URL: ["ws:", "wss:"],
} as const;

export type GivenService = keyof typeof schemes;

/**
 * The server that a variable names cannot be used. The message begins with the variable and never quotes its
 * value.
 */
export class GivenServiceUnusable extends Error {
  override readonly name = "GivenServiceUnusable";
  readonly code = "GIVEN_SERVICE_UNUSABLE";
  readonly variable: GivenService | "LOCAL_FUNDING_PRIVATE_KEY";

  constructor(variable: GivenServiceUnusable["variable"], reason: string, options?: ErrorOptions) {
    super(`${variable}: ${reason}`, options);
    this.variable = variable;
  }
}

/** The URL in the variable; undefined if it is unset. */
export function givenUrl(
  env: Readonly<Record<string, string | undefined>>,
  variable: GivenService,
): string | undefined {
  const value = env[variable];
  return value === "" ? undefined : value;
}

/**
 * Checks the given URLs without connecting, before anything is started.
 *
 * @throws GivenServiceUnusable if one has an unexpected scheme
 */
export function checkGivenUrls(env: Readonly<Record<string, string | undefined>>): void {
  for (const variable of Object.keys(schemes) as GivenService[]) {
    const url = givenUrl(env, variable);
    if (url !== undefined) checkScheme(variable, url);
  }
}

function checkScheme(variable: GivenService, url: string): void {
  const wanted: readonly string[] = schemes[variable];
  if (URL.canParse(url) && wanted.includes(new URL(url).protocol)) return;
  const forms = wanted.map((scheme) => `${scheme}//…`).join(" or ");
  throw new GivenServiceUnusable(variable, `must be a URL like ${forms}`);
}

/**
 * Tries a given server.
 *
 * @throws GivenServiceUnusable if its URL has an unexpected scheme, or `attempt` fails
 */
export async function tryGiven(
  variable: GivenService,
  url: string,
  attempt: (url: string) => Promise<void>,
): Promise<void> {
  checkScheme(variable, url);
  try {
    await attempt(url);
  } catch (error) {
    throw new GivenServiceUnusable(variable, reasonOf(error), { cause: error });
  }
}

/** If both addresses of a host refuse, the error has no message, but contains one error per address. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** The result of one check. */
export interface Finding {
  /** Stable name, such as `redis.eviction`. */
  readonly check: string;
  /** Part of the instance, such as a chain, a host or an account. */
  readonly subject: string;
  /** `skipped`: not checked, because a prerequisite is missing. */
  readonly state: "ok" | "problem" | "warning" | "skipped";
  /** The found and the expected value. Contains no secret. */
  readonly found: string;
  /** The consequence if the fault is not fixed. Absent without a fault. */
  readonly why?: string;
  /** The command or setting that fixes the fault. */
  readonly remedy?: string;
}

type Fault = Required<Pick<Finding, "found" | "why" | "remedy">>;

/** Creates the findings of one check. */
export interface FindingsOf {
  ok(found: string): Finding;
  problem(fault: Fault): Finding;
  warning(fault: Fault): Finding;
  skipped(found: string): Finding;
}

export function findingsOf(check: string, subject: string): FindingsOf {
  const base = { check, subject };
  return {
    ok: (found) => ({ ...base, state: "ok", found }),
    problem: (fault) => ({ ...base, state: "problem", ...fault }),
    warning: (fault) => ({ ...base, state: "warning", ...fault }),
    skipped: (found) => ({ ...base, state: "skipped", found }),
  };
}

/** Facts, or why there are none. The reason contains no secret. */
export type Gathered<T> =
  | { readonly kind: "facts"; readonly facts: T }
  | { readonly kind: "unreachable"; readonly reason: string };

/** Host and port of a URL, without credentials, path and query. */
export function hostOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "an invalid URL";
  return parsed.host === "" ? parsed.protocol.replace(":", " socket") : parsed.host;
}

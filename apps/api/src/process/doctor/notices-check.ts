import { findingsOf, type Finding, type Gathered } from "./finding.ts";

export interface ContactedHost {
  readonly host: string;
  /** Whether a connection could be opened. */
  readonly gathered: Gathered<true>;
}

/** Judges the hosts of notifications. Sends no test notification, because doctor changes nothing. */
export function judgeNotices(channels: readonly ContactedHost[], isLocal: boolean): readonly Finding[] {
  if (channels.length === 0 && !isLocal)
    return [
      findingsOf("notices", "NOTIFY_URLS").warning({
        found: "NOTIFY_URLS is not set",
        why: "alarms notify no one unless Prometheus watches them",
        remedy: "set NOTIFY_URLS in the API and the worker, or set up alerts (docs/operations/monitoring.md)",
      }),
    ];
  return channels.map(({ host, gathered }) => {
    const notices = findingsOf("notices", host);
    return gathered.kind === "facts"
      ? notices.ok("accepts connections")
      : notices.problem({
          found: `no connection to the host (${gathered.reason})`,
          why: "alarms do not reach you",
          remedy: "correct the entry in NOTIFY_URLS, or allow outgoing connections to this host",
        });
  });
}

export function judgeSigner({ host, gathered }: ContactedHost): readonly Finding[] {
  const signer = findingsOf("signer", host);
  return [
    gathered.kind === "facts"
      ? signer.ok("accepts connections")
      : signer.problem({
          found: `the signer process does not accept connections (${gathered.reason})`,
          why: "the API signs no order, so every quote fails",
          remedy: "start the signer (node dist/signer.js), or correct ORDER_SIGNER_URL",
        }),
  ];
}

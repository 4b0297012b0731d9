import type { IgnoredLog } from "@causeway/families/evm";
import type { ObserveCall, RpcTransportOptions } from "../nodes/transport.ts";
import type { AttestationRules } from "./attestable.ts";

/** How to connect an EVM chain, and the listeners for its events. */
export interface ConnectOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url">;
  /** The observer of all calls to the endpoint at this URL. */
  readonly observe?: (url: string) => ObserveCall;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: () => number;
  /**
   * Called for faults that the connection recovers from (lost sockets, failed polls). They contain no URL;
   * `endpoint` is the host of the faulty endpoint, if known.
   */
  readonly onFault?: (fault: unknown, endpoint?: string) => void;
  /** Called with the endpoints (hosts) that contradicted the others in a read that decides about money. */
  readonly onDisagreement?: (question: string, endpoints: readonly string[]) => void;
  /** Called with logs that look like deposits but are not. */
  readonly onIgnoredLogs?: (ignored: readonly IgnoredLog[]) => void;
  /** Called for each answer that contains unrequested logs, with their number. */
  readonly onUnrequestedLogs?: (count: number) => void;
  /** How oracles attest deposits. Absent: no hub is configured, so nothing is settled. */
  readonly attestation?: AttestationRules;
}

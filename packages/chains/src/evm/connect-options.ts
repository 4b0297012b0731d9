import type { IgnoredLog } from "@causeway/families/evm";
import type { ObserveCall, RpcTransportOptions } from "../nodes/transport.ts";
import type { AttestationRules } from "./attestable.ts";

/** How an EVM chain is connected, and who hears of what. */
export interface ConnectOptions {
  readonly rpc?: Omit<RpcTransportOptions, "url">;
  /** The observer of all calls to the endpoint at this URL. */
  readonly observe?: (url: string) => ObserveCall;
  /** Milliseconds since epoch; default the system's clock. */
  readonly now?: () => number;
  /**
   * Faults that the connection survives by itself (lost sockets, failed polls), without any URL in them;
   * `endpoint` is the host of the endpoint, where one is to blame.
   */
  readonly onFault?: (fault: unknown, endpoint?: string) => void;
  /** These endpoints (hosts) contradicted the others about something that decides about money. */
  readonly onDisagreement?: (question: string, endpoints: readonly string[]) => void;
  /** Logs that look like deposits and are none. */
  readonly onIgnoredLogs?: (ignored: readonly IgnoredLog[]) => void;
  /** Called with the number of logs that the node gave without being asked, for each such answer. */
  readonly onUnrequestedLogs?: (count: number) => void;
  /** How oracles attest deposits; absent: nothing is settled. */
  readonly attestation?: AttestationRules;
}

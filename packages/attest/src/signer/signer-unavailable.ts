import { ServiceError } from "@causeway/domain";

/**
 * Why a remote key did not sign. `timeout`: no answer in time. `no-credentials`: no credentials were found.
 * `refused`: missing permissions or wrong credentials. `disabled`: the key cannot be used now. `unreachable`:
 * no connection, or the service failed. `bad-answer`: the answer is not a signature by our key.
 */
export type SignerFault =
  | "timeout"
  | "throttled"
  | "no-credentials"
  | "refused"
  | "disabled"
  | "unknown-key"
  | "unreachable"
  | "bad-answer";

/**
 * A remote key cannot be used now; the call can be repeated. Has no cause: errors of remote services name
 * keys, accounts and hosts, and this error may reach a log or a caller.
 */
export class SignerUnavailable extends ServiceError {
  readonly fault: SignerFault;

  constructor(fault: SignerFault) {
    super("SERVICE_UNAVAILABLE", `signing key unavailable (${fault})`);
    this.name = "SignerUnavailable";
    this.fault = fault;
  }
}

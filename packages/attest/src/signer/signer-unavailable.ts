import { ServiceError } from "@causeway/domain";

/**
 * Why a remote key did not sign: `timeout` (no answer within the deadline), `throttled`, `no-credentials`
 * (nothing says who we are), `refused` (permissions, or wrong credentials), `disabled` (the key cannot be
 * used now), `unknown-key`, `unreachable` (no connection, or a failure of the service), `bad-answer` (what
 * came back is no signature by our key).
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
 * A key that does not live in this process cannot be used now. Nothing was signed, so the same call may be
 * made again.
 *
 * Has no cause: what remote services say names keys, accounts and hosts, and this may reach a log or a
 * caller.
 */
export class SignerUnavailable extends ServiceError {
  readonly fault: SignerFault;

  constructor(fault: SignerFault) {
    super("SERVICE_UNAVAILABLE", `signing key unavailable (${fault})`);
    this.name = "SignerUnavailable";
    this.fault = fault;
  }
}

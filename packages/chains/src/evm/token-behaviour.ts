import { tokenProbeAbi, tokenProbeBytecode } from "@causeway/contracts";
import type { Address, Hex } from "@causeway/domain";
import { decodeFunctionResult, encodeFunctionData } from "viem";

/** What a probe of a token is asked, and what its answers mean. Pure. */

/** How a token behaves; undefined where the probe could not tell. */
export interface TokenBehaviour {
  /**
   * `exact`: who receives gets what was sent. `charges`: less than that, or more is taken of the sender.
   * `refuses`: what somebody bought he cannot hand on, or not sell.
   */
  readonly transfers: "exact" | "charges" | "refuses" | undefined;
  /** An allowance must be set to zero before it is set to another amount. */
  readonly resetsApproval: boolean | undefined;
}

export const UNKNOWN_BEHAVIOUR: TokenBehaviour = { transfers: undefined, resetsApproval: undefined };

/**
 * `open`: it takes the token. `blocked`: the token goes to others, and not to this one. Undefined: the probe
 * could not tell.
 */
export type RecipientStanding = "open" | "blocked" | undefined;

/** Accounts that nobody has: one that holds the probe's code, and one that only receives. */
export const PROBE_ACCOUNT: Address = "0xca05e7a900000000000000000000000000000b01";
export const STRANGER: Address = "0xca05e7a900000000000000000000000000000b02";

const DEPLOYING_END = "5ff3fe";

/**
 * The probe's code as a chain would keep it: what its creation returns stands behind the few instructions
 * that do so.
 */
export const tokenProbeCode: Hex = `0x${tokenProbeBytecode.slice(tokenProbeBytecode.indexOf(DEPLOYING_END) + DEPLOYING_END.length)}`;

/** Asked of a holder of the token that has the probe's code. */
export function behaviourQuestion(token: Address): Hex {
  return encodeFunctionData({
    abi: tokenProbeAbi,
    functionName: "behaviour",
    args: [token, PROBE_ACCOUNT, STRANGER],
  });
}

/** Likewise. */
export function recipientQuestion(token: Address, recipient: Address): Hex {
  return encodeFunctionData({
    abi: tokenProbeAbi,
    functionName: "payments",
    args: [token, recipient, STRANGER],
  });
}

/**
 * Reads the answer to {@link behaviourQuestion}; nothing is known of a token whose answer cannot be read:
 * nodes that ignore the code that was put there answer anything.
 */
export function behaviourIn(answer: Hex | undefined): TokenBehaviour {
  const read = readable(answer, (data) =>
    decodeFunctionResult({ abi: tokenProbeAbi, functionName: "behaviour", data }),
  );
  if (read === undefined) return UNKNOWN_BEHAVIOUR;
  const [moves, approvals] = read;
  return {
    transfers: transfersOf(moves),
    // One that takes no approval at all behaves like neither.
    resetsApproval: approvals.first && approvals.changedAfterZero ? !approvals.changed : undefined,
  };
}

/** Reads the answer to {@link recipientQuestion}. */
export function recipientStandingIn(answer: Hex | undefined): RecipientStanding {
  const read = readable(answer, (data) =>
    decodeFunctionResult({ abi: tokenProbeAbi, functionName: "payments", data }),
  );
  const [toRecipient, toStranger] = read ?? [];
  if (toRecipient === undefined || toStranger === undefined || toRecipient.asked === 0n) return undefined;
  if (hasArrived(toRecipient)) return "open";
  return hasArrived(toStranger) ? "blocked" : undefined;
}

interface Move {
  readonly moved: boolean;
  readonly asked: bigint;
  readonly taken: bigint;
  readonly received: bigint;
}

const hasArrived = ({ moved, received }: Move): boolean => moved && received > 0n;

function transfersOf([bought, ...further]: readonly Move[]): TokenBehaviour["transfers"] {
  // Nothing lies in the pool, or the pool itself may not move it now: nothing is known of anybody else.
  if (bought === undefined || bought.asked === 0n || !hasArrived(bought)) return undefined;
  if (further.some((move) => move.asked > 0n && !hasArrived(move))) return "refuses";
  const isExact = [bought, ...further].every(
    ({ asked, taken, received }) => received === asked && taken === asked,
  );
  return isExact ? "exact" : "charges";
}

/** Undefined for what is no answer of the probe. */
function readable<T>(answer: Hex | undefined, read: (data: Hex) => T): T | undefined {
  if (answer === undefined || answer === "0x") return undefined;
  try {
    return read(answer);
  } catch {
    return undefined;
  }
}

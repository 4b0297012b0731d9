import { tokenProbeAbi, tokenProbeBytecode } from "@causeway/contracts";
import type { Address, Hex } from "@causeway/domain";
import { decodeFunctionResult, encodeFunctionData } from "viem";

/** Calls of the token probe contract, and the meaning of their results. Pure. */

/** How a token behaves; undefined if the probe got no answer. */
export interface TokenBehavior {
  /**
   * `exact`: the recipient gets what was sent. `charges`: they get less, or the sender pays more. `refuses`:
   * a buyer cannot transfer the tokens, or cannot sell them.
   */
  readonly transfers: "exact" | "charges" | "refuses" | undefined;
  /** Whether an allowance must be set to zero before it is set to another amount. */
  readonly resetsApproval: boolean | undefined;
}

export const UNKNOWN_BEHAVIOR: TokenBehavior = { transfers: undefined, resetsApproval: undefined };

/**
 * `open`: the recipient can receive the token. `blocked`: other accounts can, this one cannot. Undefined: the
 * probe got no answer.
 */
export type RecipientStanding = "open" | "blocked" | undefined;

/** Accounts without a known key: `PROBE_ACCOUNT` has the probe's code, `STRANGER` only receives. */
export const PROBE_ACCOUNT: Address = "0xca05e7a900000000000000000000000000000b01";
export const STRANGER: Address = "0xca05e7a900000000000000000000000000000b02";

const CREATION_PREFIX_END = "5ff3fe";

/**
 * The probe's deployed code: the part of its creation code after the few instructions that return it.
 */
export const tokenProbeCode: Hex = `0x${tokenProbeBytecode.slice(tokenProbeBytecode.indexOf(CREATION_PREFIX_END) + CREATION_PREFIX_END.length)}`;

/** The call to an account that holds the token and runs the probe's code. */
export function behaviorCalldata(token: Address): Hex {
  return encodeFunctionData({
    abi: tokenProbeAbi,
    functionName: "behaviour",
    args: [token, PROBE_ACCOUNT, STRANGER],
  });
}

/** The call that asks whether a recipient can receive the token. */
export function recipientCalldata(token: Address, recipient: Address): Hex {
  return encodeFunctionData({
    abi: tokenProbeAbi,
    functionName: "payments",
    args: [token, recipient, STRANGER],
  });
}

/**
 * Reads the answer to {@link behaviorCalldata}; an unreadable answer proves nothing, because nodes that
 * ignore the code override return anything.
 */
export function behaviorIn(answer: Hex | undefined): TokenBehavior {
  const decoded = tryDecode(answer, (data) =>
    decodeFunctionResult({ abi: tokenProbeAbi, functionName: "behaviour", data }),
  );
  if (decoded === undefined) return UNKNOWN_BEHAVIOR;
  const [moves, approvals] = decoded;
  return {
    transfers: transfersOf(moves),
    // A token that accepts no approval at all has neither behavior.
    resetsApproval: approvals.first && approvals.changedAfterZero ? !approvals.changed : undefined,
  };
}

/** Reads the answer to {@link recipientCalldata}. */
export function recipientStandingIn(answer: Hex | undefined): RecipientStanding {
  const decoded = tryDecode(answer, (data) =>
    decodeFunctionResult({ abi: tokenProbeAbi, functionName: "payments", data }),
  );
  const [toRecipient, toStranger] = decoded ?? [];
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

function transfersOf([bought, ...laterMoves]: readonly Move[]): TokenBehavior["transfers"] {
  // The pool is empty, or may not transfer at the moment: this proves nothing about other holders.
  if (bought === undefined || bought.asked === 0n || !hasArrived(bought)) return undefined;
  if (laterMoves.some((move) => move.asked > 0n && !hasArrived(move))) return "refuses";
  const isExact = [bought, ...laterMoves].every(
    ({ asked, taken, received }) => received === asked && taken === asked,
  );
  return isExact ? "exact" : "charges";
}

/** Undefined for data that the probe cannot have returned. */
function tryDecode<T>(answer: Hex | undefined, decode: (data: Hex) => T): T | undefined {
  if (answer === undefined || answer === "0x") return undefined;
  try {
    return decode(answer);
  } catch {
    return undefined;
  }
}

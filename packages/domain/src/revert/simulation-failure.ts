/** Why a simulated call cannot succeed, in API format; every text from the chain is bounded and printable. */
export interface SimulationFailure {
  /** SCREAMING_SNAKE. */
  readonly label: string;
  readonly message: string;
  readonly details: SimulationFailureDetails;
}

export interface SimulationFailureDetails {
  readonly topLevel: FailureFrame;
  /** The call that failed by itself. */
  readonly innermost: FailureFrame;
  /** From the top-level call to the innermost one, both included. */
  readonly path: readonly FailureFrame[];
  readonly revert: FailureRevert;
}

export interface FailureFrame {
  readonly type: string;
  readonly address?: string;
  /** The contract's name, if its address or a function that only it has identifies it. */
  readonly contract?: string;
  /** `Multicall3.aggregate3Value`, or the function alone if several contracts have it. */
  readonly function?: string;
  readonly selector?: string;
  readonly error?: string;
  readonly revertReason?: string;
  /** Decimal. */
  readonly gasUsed?: string;
}

export type RevertType = "errorString" | "panic" | "customError" | "unknownCustomError" | "empty";

export interface FailureRevert {
  readonly type: RevertType;
  readonly label: string;
  readonly message: string;
  readonly selector?: string;
  readonly name?: string;
  readonly args?: Readonly<Record<string, string>>;
  /** The data after an unknown selector. */
  readonly rawArgsHex?: string;
}

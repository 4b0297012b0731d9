/** Why the EVM itself, not a contract's code, stopped a call. */
export interface MachineFailure {
  readonly label: string;
  readonly message: string;
}

/** Error texts of geth and revm (anvil, reth), then of others; the first match counts. */
const failures: readonly (readonly [RegExp, string, string])[] = [
  [/out of gas|OutOfGas|gas uint64 overflow|gas too low/i, "OUT_OF_GAS", "Out of gas"],
  [
    /invalid opcode|InvalidFEOpcode|opcode 0x\w+ not defined|OpcodeNotFound|NotActivated|undefined instruction/i,
    "INVALID_OPCODE",
    "Invalid opcode",
  ],
  [/stack ?overflow|stack limit reached|out of stack/i, "STACK_OVERFLOW", "Stack overflow"],
  [/stack ?underflow/i, "STACK_UNDERFLOW", "Stack underflow"],
  [/invalid ?jump/i, "INVALID_JUMP", "Invalid jump destination"],
  [
    /write protection|StateChangeDuringStaticCall|CallNotAllowedInsideStatic|static/i,
    "STATE_CHANGE_IN_STATIC_CALL",
    "State change in a static call",
  ],
  [
    /insufficient balance|OutOfFunds|out of funds|lack of funds/i,
    "INSUFFICIENT_NATIVE_BALANCE",
    "A caller lacks the native token that it sends",
  ],
  [/call depth|CallTooDeep/i, "CALL_TOO_DEEP", "Calls are nested too deeply"],
  [/collision/i, "CONTRACT_ADDRESS_COLLISION", "A contract already exists at the address to be created"],
  [
    /max (?:init)?code size|CreateContractSizeLimit|CreateInitCodeSizeLimit/i,
    "CODE_TOO_LARGE",
    "The code of a new contract is too large",
  ],
  [/invalid code|CreateContractStartingWithEF/i, "INVALID_CODE", "The code of a new contract is invalid"],
  [/return ?data out of bounds|OutOfOffset/i, "RETURN_DATA_OUT_OF_BOUNDS", "Read beyond the returned data"],
  [/precompile/i, "PRECOMPILE_FAILED", "A precompiled contract failed"],
];

/** Recognizes a node's error text; undefined for a plain revert and for unknown texts. */
export function machineFailureOf(error: string | undefined): MachineFailure | undefined {
  if (error === undefined || /revert/i.test(error)) return undefined;
  const match = failures.find(([wording]) => wording.test(error));
  return match === undefined ? undefined : { label: match[1], message: match[2] };
}

/** Solidity documentation, "Panic via assert and Error via require": label and meaning by code. */
const panics: ReadonlyMap<bigint, readonly [string, string]> = new Map([
  [0x00n, ["PANIC_GENERIC", "Panic inserted by the compiler"]],
  [0x01n, ["PANIC_ASSERTION_FAILED", "Assertion failed"]],
  [0x11n, ["PANIC_ARITHMETIC_OVERFLOW", "Arithmetic overflow or underflow"]],
  [0x12n, ["PANIC_DIVISION_BY_ZERO", "Division or modulo by zero"]],
  [0x21n, ["PANIC_INVALID_ENUM_VALUE", "Value is not a member of the enum"]],
  [0x22n, ["PANIC_INVALID_STORAGE_BYTES", "Storage byte array is badly encoded"]],
  [0x31n, ["PANIC_POP_ON_EMPTY_ARRAY", "Pop on an empty array"]],
  [0x32n, ["PANIC_ARRAY_INDEX_OUT_OF_BOUNDS", "Array index out of bounds"]],
  [0x41n, ["PANIC_OUT_OF_MEMORY", "Too much memory allocated"]],
  [0x51n, ["PANIC_UNINITIALIZED_FUNCTION", "Call of a zero-initialized function"]],
]);

/** Label and text of a Solidity panic. */
export function panicOf(code: bigint): { readonly label: string; readonly message: string } {
  const hex = `0x${code.toString(16).padStart(2, "0")}`;
  const panic = panics.get(code);
  return panic === undefined
    ? { label: "PANIC_UNKNOWN", message: `Unknown panic (${hex})` }
    : { label: panic[0], message: `${panic[1]} (${hex})` };
}

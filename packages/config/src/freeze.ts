/**
 * Freezes plain objects and arrays, at every depth, and returns the same value. Instances of classes are left
 * alone.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

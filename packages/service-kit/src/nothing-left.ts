/**
 * `true` when the fields named are all that `Shape` has: a field that is added later and that hand-written
 * JSON does not name fails to compile.
 */
export type NothingLeft<Shape, Written extends keyof Shape> = [Exclude<keyof Shape, Written>] extends [never]
  ? true
  : never;

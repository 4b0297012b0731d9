/** Use cases with their services given: what is left are the arguments that a route passes. */
export type Bound<UseCases> = {
  readonly [Name in keyof UseCases]: UseCases[Name] extends (
    services: never,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Result
    : never;
};

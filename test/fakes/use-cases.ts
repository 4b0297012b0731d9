/** Use cases without their `services` parameter: functions of the arguments that a route passes. */
export type Bound<UseCases> = {
  readonly [Name in keyof UseCases]: UseCases[Name] extends (
    services: never,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Result
    : never;
};

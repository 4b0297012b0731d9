/**
 * Calls use cases with the services of this process. A test can respond in place of a use case without faking
 * its services.
 */
export interface UseCases<Services> {
  call<Args extends readonly unknown[], Result>(
    useCase: (services: Services, ...args: Args) => Result,
    ...args: NoInfer<Args>
  ): Result;
}

/** The services that a route needs to call these use cases; pass several as a union. */
export type Calls<UseCase> = UseCases<
  [UseCase] extends [(services: infer Services, ...args: never[]) => unknown] ? Services : never
>;

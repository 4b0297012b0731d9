import type { UseCases } from "./use-cases.port.ts";

/** Gives every use case the same services. */
export function useCasesOf<Services>(services: Services): UseCases<Services> {
  return { call: (useCase, ...args) => useCase(services, ...args) };
}

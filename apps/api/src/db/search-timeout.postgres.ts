import { ServiceError } from "@causeway/domain";

const QUERY_CANCELED = "57014";

/**
 * @throws ServiceError SERVICE_UNAVAILABLE if the database canceled the search at its time limit, or if no
 * connection became free in time
 */
export async function withSearchTimeout<T>(search: Promise<T>): Promise<T> {
  try {
    return await search;
  } catch (cause) {
    const isCanceled = cause instanceof Error && "code" in cause && cause.code === QUERY_CANCELED;
    const isCrowdedOut =
      cause instanceof Error && /timeout exceeded when trying to connect/.test(cause.message);
    if (!isCanceled && !isCrowdedOut) throw cause;
    throw new ServiceError(
      "SERVICE_UNAVAILABLE",
      "The search took too long; narrow it, for example by a time range",
      { cause },
    );
  }
}

/** The endpoints of an entry, as a list. */
export function endpointUrls(httpRpcUrl: string | readonly string[]): readonly string[] {
  return typeof httpRpcUrl === "string" ? [httpRpcUrl] : httpRpcUrl;
}

/** The default of `rpcQuorum` for this number of endpoints: a majority, such as 1 of 1 and 2 of 2. */
export function defaultQuorum(endpointCount: number): number {
  return Math.floor(endpointCount / 2) + 1;
}

/** Problems with an entry's endpoints and its quorum. */
export function endpointProblems(
  place: string,
  urls: readonly string[],
  rpcQuorum: number = defaultQuorum(urls.length),
): readonly string[] {
  const problems: string[] = [];
  if (new Set(urls).size < urls.length)
    problems.push(`${place}.httpRpcUrl: lists the same endpoint twice; a quorum needs distinct endpoints`);
  if (rpcQuorum > urls.length)
    problems.push(
      `${place}.additionalData.rpcQuorum: must be at most the number of endpoints (${urls.length})`,
    );
  else if (rpcQuorum > 1 && rpcQuorum * 2 <= urls.length)
    // With at most half, two groups that contradict each other could each form a quorum.
    problems.push(`${place}.additionalData.rpcQuorum: must be more than half of the endpoints, or 1`);
  return problems;
}

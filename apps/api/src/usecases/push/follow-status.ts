import type { RequestId } from "@causeway/domain";
import type { PushRoutes, StatusFollower } from "../../ports/push-routes.ts";
import type { Spelling } from "../../ports/spelling.ts";
import type { StatusFeed, StatusListener, StopListening } from "../../ports/status-feed.ts";
import { statusView } from "../request-status.ts";
import { hexSpelling } from "../spelling.ts";

/** Following requests in the client's words. */
export function followStatus(
  feed: StatusFeed,
  spelling: Spelling = hexSpelling,
): Pick<PushRoutes, "follow" | "followKey"> {
  return {
    follow: async (requestId, follower, after) =>
      await followOne({ feed, spelling }, requestId, follower, after),
    followKey: (keyId, follower) => feed.followKey(keyId, inWords(follower, spelling)),
  };
}

/** Whoever follows a request whose deposit address got another sum follows the one that stands in for it from then on, under the id that he knows. */
async function followOne(
  { feed, spelling }: { readonly feed: StatusFeed; readonly spelling: Spelling },
  requestId: RequestId,
  follower: StatusFollower,
  after: number | undefined,
): Promise<StopListening | undefined> {
  let isOver = false;
  let stopStandIn: StopListening | undefined;
  const told = inWords(follower, spelling);
  const followStandIn = async (supersededByRequestId: RequestId): Promise<void> => {
    const listener: StatusListener = {
      changed: ({ record, onlyFinal }) =>
        follower.updated({
          view: { ...statusView(record, spelling), requestId, supersededByRequestId },
          // Not a change of the request that is followed: who comes back with it is told where everything stands.
          sequence: 0,
          onlyFinal,
        }),
      lost: () => follower.lost(),
    };
    stopStandIn = await feed.follow(supersededByRequestId, listener).catch(() => undefined);
    if (stopStandIn === undefined) follower.lost();
    if (isOver) stopStandIn?.();
  };
  let standIn: Promise<void> | undefined;
  const stop = await feed.follow(
    requestId,
    {
      changed: (change) => {
        const { supersededBy } = change.record;
        if (supersededBy === undefined) return told.changed(change);
        standIn ??= followStandIn(supersededBy);
      },
      lost: () => told.lost(),
    },
    after,
  );
  // What is told first is how the other one stands.
  await standIn;
  return (
    stop &&
    ((): void => {
      isOver = true;
      stop();
      stopStandIn?.();
    })
  );
}

function inWords(follower: StatusFollower, spelling: Spelling): StatusListener {
  return {
    changed: ({ record, sequence, onlyFinal }) =>
      follower.updated({ view: statusView(record, spelling), sequence, onlyFinal }),
    lost: () => follower.lost(),
  };
}

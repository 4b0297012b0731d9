import type { PushRoutes, StatusFollower } from "../../ports/push-routes.ts";
import type { StatusFeed, StatusListener } from "../../ports/status-feed.ts";
import { statusView } from "../request-status.ts";

/** Following requests in the client's words. */
export function followStatus(feed: StatusFeed): Pick<PushRoutes, "follow" | "followKey"> {
  return {
    follow: async (requestId, follower, after) => await feed.follow(requestId, inWords(follower), after),
    followKey: (keyId, follower) => feed.followKey(keyId, inWords(follower)),
  };
}

function inWords(follower: StatusFollower): StatusListener {
  return {
    changed: ({ record, sequence, onlyFinal }) =>
      follower.updated({ view: statusView(record), sequence, onlyFinal }),
    lost: () => follower.lost(),
  };
}

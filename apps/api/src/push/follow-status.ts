import type { RequestId } from "@causeway/domain";
import type { Clock } from "../db/clock.port.ts";
import type { StatusPush, StatusFollower } from "./status-push.port.ts";
import type { StatusRecord } from "../db/records.port.ts";
import type { AddressFormat } from "../chains/address-format.port.ts";
import type {
  StatusChange,
  StatusFeed,
  StatusListener,
  StopListening,
} from "../requests/status-feed.port.ts";
import { standInView, statusView } from "../requests/request-status.ts";

/** Following requests in the client's words. */
export function followStatus(
  feed: StatusFeed,
  clock: Clock,
  spelling: AddressFormat,
): Pick<StatusPush, "follow" | "followKey"> {
  return {
    follow: async (requestId, follower, after) =>
      await followOne({ feed, clock, spelling }, requestId, follower, after),
    followKey: (keyId, follower) => feed.followKey(keyId, inWords(follower, clock, spelling)),
  };
}

/**
 * Whoever follows a request whose deposit address got another sum follows the one that stands in for it from
 * then on, under the id that he knows.
 */
async function followOne(
  {
    feed,
    clock,
    spelling,
  }: { readonly feed: StatusFeed; readonly clock: Clock; readonly spelling: AddressFormat },
  requestId: RequestId,
  follower: StatusFollower,
  after: number | undefined,
): Promise<StopListening | undefined> {
  let isOver = false;
  let stopStandIn: StopListening | undefined;
  let own: StatusRecord | undefined;
  let standIn: { readonly id: RequestId; ready: Promise<void>; last?: StatusChange } | undefined;
  const told = inWords(follower, clock, spelling);

  const tellStandIn = ({ record, onlyFinal }: StatusChange): void => {
    if (own === undefined) return;
    // Not a change of the request that is followed: who comes back with it is told where everything stands.
    follower.updated({ view: standInView(own, record, clock.nowMs(), spelling), sequence: 0, onlyFinal });
  };
  const followStandIn = async (supersededBy: RequestId): Promise<void> => {
    const listener: StatusListener = {
      changed: (change) => {
        if (standIn?.id !== supersededBy) return;
        standIn.last = change;
        tellStandIn(change);
      },
      lost: () => follower.lost(),
    };
    const stopThis = await feed.follow(supersededBy, listener).catch(() => undefined);
    if (stopThis === undefined) follower.lost();
    if (isOver || standIn?.id !== supersededBy) stopThis?.();
    else stopStandIn = stopThis;
  };
  const stop = await feed.follow(
    requestId,
    {
      changed: (change) => {
        own = change.record;
        const { supersededBy } = own;
        if (supersededBy !== standIn?.id) {
          stopStandIn?.();
          stopStandIn = undefined;
          standIn = undefined;
        }
        if (supersededBy === undefined) told.changed(change);
        else if (standIn === undefined) {
          standIn = { id: supersededBy, ready: Promise.resolve() };
          standIn.ready = followStandIn(supersededBy);
        } else if (standIn.last !== undefined) tellStandIn({ ...standIn.last, onlyFinal: true });
      },
      lost: () => told.lost(),
    },
    after,
  );
  // What is told first is how the other one stands.
  await standIn?.ready;
  return (
    stop &&
    ((): void => {
      isOver = true;
      stop();
      stopStandIn?.();
    })
  );
}

function inWords(follower: StatusFollower, clock: Clock, spelling: AddressFormat): StatusListener {
  return {
    changed: ({ record, sequence, onlyFinal }) =>
      follower.updated({ view: statusView(record, clock.nowMs(), spelling), sequence, onlyFinal }),
    lost: () => follower.lost(),
  };
}

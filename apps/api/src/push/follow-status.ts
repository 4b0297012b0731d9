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
import { statusView, successorView } from "../requests/index.ts";

/** Follows requests in their wire form. */
export function followStatus(
  feed: StatusFeed,
  clock: Clock,
  format: AddressFormat,
): Pick<StatusPush, "follow" | "followKey"> {
  return {
    follow: async (requestId, follower, after) =>
      await followOne({ feed, clock, format }, requestId, follower, after),
    followKey: (keyId, follower) => feed.followKey(keyId, toWireListener(follower, clock, format)),
  };
}

/**
 * A follower of a request that was superseded at its deposit address follows the successor from then on,
 * under the original id.
 */
async function followOne(
  {
    feed,
    clock,
    format,
  }: { readonly feed: StatusFeed; readonly clock: Clock; readonly format: AddressFormat },
  requestId: RequestId,
  follower: StatusFollower,
  after: number | undefined,
): Promise<StopListening | undefined> {
  let isOver = false;
  let stopSuccessor: StopListening | undefined;
  let own: StatusRecord | undefined;
  let successor: { readonly id: RequestId; ready: Promise<void>; last?: StatusChange } | undefined;
  const wireListener = toWireListener(follower, clock, format);

  const reportSuccessor = ({ record, onlyFinal }: StatusChange): void => {
    if (own === undefined) return;
    // Not a change of the followed request: a client that reconnects with it gets the current status of
    // everything.
    follower.updated({ view: successorView(own, record, clock.nowMs(), format), sequence: 0, onlyFinal });
  };
  const followSuccessor = async (supersededBy: RequestId): Promise<void> => {
    const listener: StatusListener = {
      changed: (change) => {
        if (successor?.id !== supersededBy) return;
        successor.last = change;
        reportSuccessor(change);
      },
      lost: () => follower.lost(),
    };
    const stopThis = await feed.follow(supersededBy, listener).catch(() => undefined);
    if (stopThis === undefined) follower.lost();
    if (isOver || successor?.id !== supersededBy) stopThis?.();
    else stopSuccessor = stopThis;
  };
  const stop = await feed.follow(
    requestId,
    {
      changed: (change) => {
        own = change.record;
        const { supersededBy } = own;
        if (supersededBy !== successor?.id) {
          stopSuccessor?.();
          stopSuccessor = undefined;
          successor = undefined;
        }
        if (supersededBy === undefined) wireListener.changed(change);
        else if (successor === undefined) {
          successor = { id: supersededBy, ready: Promise.resolve() };
          successor.ready = followSuccessor(supersededBy);
        } else if (successor.last !== undefined) reportSuccessor({ ...successor.last, onlyFinal: true });
      },
      lost: () => wireListener.lost(),
    },
    after,
  );
  // The first message shows the successor's status.
  await successor?.ready;
  return (
    stop &&
    ((): void => {
      isOver = true;
      stop();
      stopSuccessor?.();
    })
  );
}

function toWireListener(follower: StatusFollower, clock: Clock, format: AddressFormat): StatusListener {
  return {
    changed: ({ record, sequence, onlyFinal }) =>
      follower.updated({ view: statusView(record, clock.nowMs(), format), sequence, onlyFinal }),
    lost: () => follower.lost(),
  };
}

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

/** Follows requests and passes their statuses in wire form. */
export function followStatus(
  feed: StatusFeed,
  clock: Clock,
  format: AddressFormat,
): Pick<StatusPush, "follow" | "followKey"> {
  return {
    follow: async (requestId, follower, after) =>
      await followRequest({ feed, clock, format }, requestId, follower, after),
    followKey: (keyId, follower) => feed.followKey(keyId, toWireListener(follower, clock, format)),
  };
}

/**
 * Follows a request. If the request is superseded at its deposit address, the follower gets the updates of
 * the successor, under the original id.
 */
async function followRequest(
  {
    feed,
    clock,
    format,
  }: { readonly feed: StatusFeed; readonly clock: Clock; readonly format: AddressFormat },
  requestId: RequestId,
  follower: StatusFollower,
  after: number | undefined,
): Promise<StopListening | undefined> {
  let isStopped = false;
  let stopSuccessor: StopListening | undefined;
  let ownRecord: StatusRecord | undefined;
  let successor: { readonly id: RequestId; ready: Promise<void>; last?: StatusChange } | undefined;
  const wireListener = toWireListener(follower, clock, format);

  const reportSuccessor = ({ record, onlyFinal }: StatusChange): void => {
    if (ownRecord === undefined) return;
    // Sequence 0, because this is not a change of the followed request: a client that reconnects with it gets
    // the current status.
    follower.updated({
      view: successorView(ownRecord, record, clock.nowMs(), format),
      sequence: 0,
      onlyFinal,
    });
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
    if (isStopped || successor?.id !== supersededBy) stopThis?.();
    else stopSuccessor = stopThis;
  };
  const stop = await feed.follow(
    requestId,
    {
      changed: (change) => {
        ownRecord = change.record;
        const { supersededBy } = ownRecord;
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
      isStopped = true;
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

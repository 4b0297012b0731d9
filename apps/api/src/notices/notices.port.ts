export type Severity = "critical" | "warning";

/** Where operators are notified. */
export interface Channel {
  /** Identifies the URL in the database without revealing it. */
  readonly id: string;
  readonly url: string;
  readonly format: "json" | "slack";
}

/** Identifies a series of alarms or a condition; notices about one key never hide notices about another. */
export interface NoticeKey {
  /** Name of the event or of the condition. */
  readonly rule: string;
  /** The request, lane or chain that it is about. */
  readonly subject: string;
}

/** An alarm that no message has reported yet. */
export interface StoredAlarm extends NoticeKey {
  readonly id: number;
  readonly severity: Severity;
  readonly text: string;
  readonly atMs: number;
}

/** The result of a check for one subject. `isOpen` false is evidence that the condition has ended. */
export interface Finding extends NoticeKey {
  readonly severity: Severity;
  readonly isOpen: boolean;
  readonly text: string;
}

/** The last reported state of a key. */
export interface NoticeState extends NoticeKey {
  readonly severity: Severity;
  readonly isCondition: boolean;
  /** When a process last saw the alarm or condition. */
  readonly seenAtMs: number;
  /** When a message last reported the alarm or condition. */
  readonly notifiedAtMs: number;
  /** Occurrences since the last message. */
  readonly unreported: number;
}

/** A message to every channel. */
export interface Message extends NoticeKey {
  readonly status: "raised" | "resolved" | "digest";
  readonly severity: Severity;
  readonly text: string;
  /** Occurrences that it reports. */
  readonly count: number;
  readonly atMs: number;
}

/** The changes of one round. */
export interface Round {
  readonly messages: readonly Message[];
  /** States to write. */
  readonly states: readonly NoticeState[];
  /** Conditions that have ended. */
  readonly ended: readonly NoticeKey[];
}

/** A message that one channel has not accepted yet. */
export interface DueNotice {
  readonly id: number;
  readonly channel: string;
  readonly message: Message;
  /** Attempts so far. */
  readonly tries: number;
}

export interface NoticeStore {
  /**
   * Reads unreported alarms and findings, decides, and stores the messages, in a transaction that only one
   * process runs at a time. Does nothing while another runs it.
   */
  fold(
    input: {
      readonly findings: readonly Finding[];
      readonly channels: readonly string[];
      readonly sinceMs: number;
      readonly nowMs: number;
    },
    decide: (read: {
      readonly alarms: readonly StoredAlarm[];
      readonly states: readonly NoticeState[];
      /** Messages stored since `sinceMs`. */
      readonly sent: number;
    }) => Round | undefined,
  ): Promise<void>;
  /** Leases due messages of these channels for `leaseMs`. */
  claim(options: {
    readonly channels: readonly string[];
    readonly nowMs: number;
    readonly leaseMs: number;
    readonly limit: number;
  }): Promise<readonly DueNotice[]>;
  /** Records the outcome of an attempt; `againAtMs` undefined: no further attempt. */
  finish(
    id: number,
    outcome: { readonly nowMs: number; readonly againAtMs: number | undefined },
  ): Promise<void>;
  /** Deletes deliveries created before `createdBeforeMs`, and states last seen before `seenBeforeMs`. */
  prune(before: { readonly createdBeforeMs: number; readonly seenBeforeMs: number }): Promise<void>;
  /** Messages that wait, and when the oldest was stored. */
  waiting(): Promise<{ readonly count: number; readonly oldestMs: number | undefined }>;
}

/** The arguments of one command. */
export type Arguments = readonly Buffer[];

/**
 * Parses commands from client bytes, which may be split anywhere. Clients send arrays of bulk strings;
 * anything else is a bug in the test.
 */
export function requestReader(onCommand: (args: Arguments) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const read = readRequest(pending);
      if (read === undefined) return;
      pending = pending.subarray(read.end);
      onCommand(read.args);
    }
  };
}

function readRequest(bytes: Buffer): { readonly args: Arguments; readonly end: number } | undefined {
  let offset = 0;
  const lineOf = (kind: string): number | undefined => {
    const end = bytes.indexOf("\r\n", offset);
    if (end < 0) return undefined;
    if (bytes.toString("latin1", offset, offset + 1) !== kind) throw new TypeError("not a Redis command");
    const value = Number(bytes.toString("latin1", offset + 1, end));
    offset = end + 2;
    return value;
  };
  const count = lineOf("*");
  if (count === undefined) return undefined;
  const args: Buffer[] = [];
  while (args.length < count) {
    const length = lineOf("$");
    if (length === undefined || bytes.length < offset + length + 2) return undefined;
    args.push(bytes.subarray(offset, offset + length));
    offset += length + 2;
  }
  return { args, end: offset };
}

/** Formats a command as clients send it. */
export function writeRequest(args: readonly (Buffer | string)[]): Buffer {
  return Buffer.concat([Buffer.from(`*${args.length}\r\n`), ...args.map(bulk)]);
}

export function bulk(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n")]);
}

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { checkAuthorization } from "./authorization.ts";
import { KmsError } from "./kms-error.ts";
import { createKey, type KeySpec, type KmsKey } from "./kms-key.ts";
import { operations, type KeyRing, type KmsInput } from "./operations.ts";

export interface KmsOptions {
  /** On 127.0.0.1. Default: any free port. */
  readonly port?: number;
  /** The region that callers must sign for. */
  readonly region?: string;
}

/** A fault to inject into a call. */
export type KmsFault =
  /** Delays the response. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Cuts the connection without a response. */
  | { readonly kind: "drop" }
  | { readonly kind: "throttle" }
  /** Fails with status 500. */
  | { readonly kind: "internal" }
  /** Responds with these fields in place of the real ones. */
  | { readonly kind: "answer"; readonly fields: KmsInput }
  /** Responds with these bytes and status 200. */
  | { readonly kind: "bytes"; readonly body: string };

export interface RunningKms {
  readonly url: string;
  readonly region: string;
  createKey(spec: KeySpec): KmsKey;
  /** Imports a private key (32 bytes of hex, with or without 0x), which the real service cannot do. */
  importKey(privateKey: string, alias?: string): KmsKey;
  /** Points `alias/<alias>` to this key from now on. */
  setAlias(alias: string, key: KmsKey): void;
  key(keyId: string): KmsKey;
  /** Called for each well-signed call; undefined: no fault. */
  onCall(fault: ((operation: string) => KmsFault | undefined) | undefined): void;
  /** Number of calls since the start, including refused ones. */
  calls(operation: string): number;
  stop(): Promise<void>;
}

/**
 * A local key management service: the wire protocol of AWS KMS (JSON 1.1 over HTTP) with real keys, for real
 * clients.
 *
 * Supports the operations that a signer needs: CreateKey, DescribeKey, GetPublicKey, Sign. Keys are kept in
 * memory.
 */
export async function startKms(options: KmsOptions = {}): Promise<RunningKms> {
  const { port = 0, region = "us-east-1" } = options;
  const keys = new Map<string, KmsKey>();
  const aliases = new Map<string, KmsKey>();
  const counts = new Map<string, number>();
  let faultOf: ((operation: string) => KmsFault | undefined) | undefined;

  const remember = (key: KmsKey): KmsKey => {
    keys.set(key.id, key);
    return key;
  };
  const ring: KeyRing = {
    find: (keyId) =>
      keys.get(keyId.replace(/^arn:.*:key\//, "")) ?? aliases.get(keyId.replace(/^arn:.*:alias\//, "alias/")),
    create: (spec) => remember(createKey(spec, region, Date.now())),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const target = /^TrentService\.(\w+)$/.exec(String(request.headers["x-amz-target"]))?.[1] ?? "";
    counts.set(target, (counts.get(target) ?? 0) + 1);
    try {
      const operation = operations.get(target);
      if (request.method !== "POST" || operation === undefined)
        throw new KmsError("UnknownOperationException", "");
      checkAuthorization(request.headers, region, Date.now());
      const fault = faultOf?.(target);
      if (fault?.kind === "drop") return void request.socket.destroy();
      if (fault?.kind === "delay") await delay(fault.ms);
      if (fault?.kind === "throttle")
        throw new KmsError("ThrottlingException", "You have exceeded the rate at which you may call KMS.");
      if (fault?.kind === "internal")
        throw new KmsError("KMSInternalException", "An internal error occurred.", 500);
      if (fault?.kind === "bytes") return send(response, 200, fault.body);
      const output = operation(parse(body), ring);
      send(response, 200, JSON.stringify(fault?.kind === "answer" ? { ...output, ...fault.fields } : output));
    } catch (error) {
      const { type, message, status } =
        error instanceof KmsError ? error : new KmsError("KMSInternalException", String(error), 500);
      send(response, status, JSON.stringify({ __type: type, message }));
    }
  }

  const server = createServer((request, response) => {
    // A caller that disconnects before its call was read needs no response.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1" }, resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region,
    createKey: ring.create,
    importKey(privateKey, alias) {
      const secret = Buffer.from(privateKey.replace(/^0x/, ""), "hex");
      const key = remember(createKey("ECC_SECG_P256K1", region, Date.now(), secret));
      if (alias !== undefined) aliases.set(`alias/${alias}`, key);
      return key;
    },
    setAlias: (alias, key) => void aliases.set(`alias/${alias}`, key),
    key(keyId) {
      const key = ring.find(keyId);
      if (key === undefined) throw new Error(`the local key service has no key ${keyId}`);
      return key;
    },
    onCall: (fault) => void (faultOf = fault),
    calls: (operation) => counts.get(operation) ?? 0,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.1",
    "x-amzn-requestid": randomUUID(),
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(body: string): KmsInput {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new KmsError("SerializationException", "The body is not a JSON object.");
  return value as KmsInput;
}

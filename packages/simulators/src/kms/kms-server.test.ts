import { createPublicKey, verify } from "node:crypto";
import {
  CreateKeyCommand,
  DescribeKeyCommand,
  GetPublicKeyCommand,
  KMSClient,
  SignCommand,
  type SignCommandInput,
} from "@aws-sdk/client-kms";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { KmsKey } from "./kms-key.ts";
import { startKms, type RunningKms } from "./kms-server.ts";

let kms: RunningKms;
let client: KMSClient;
let key: KmsKey;

beforeAll(async () => {
  kms = await startKms({ region: "eu-west-1" });
  client = new KMSClient({
    region: kms.region,
    endpoint: kms.url,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
});
beforeEach(() => void (key = kms.importKey("5eed".repeat(16))));
afterAll(async () => {
  client.destroy();
  await kms.stop();
});

const message = Buffer.from("a message of any length");

async function sign(input: Partial<SignCommandInput>): Promise<Uint8Array> {
  const { Signature } = await client.send(
    new SignCommand({
      KeyId: key.id,
      Message: message,
      MessageType: "RAW",
      SigningAlgorithm: "ECDSA_SHA_256",
      ...input,
    }),
  );
  return Signature ?? new Uint8Array();
}

test("returns the public key of a created key, and OpenSSL accepts its signatures", async () => {
  for (const spec of ["ECC_SECG_P256K1", "ECC_NIST_P256"] as const) {
    const { KeyMetadata: created } = await client.send(
      new CreateKeyCommand({ KeySpec: spec, KeyUsage: "SIGN_VERIFY" }),
    );
    expect(created).toMatchObject({ KeySpec: spec, KeyState: "Enabled", Enabled: true });
    const KeyId = created?.KeyId ?? "";
    const { KeyMetadata: described } = await client.send(new DescribeKeyCommand({ KeyId }));
    expect(described).toEqual(created);
    const answer = await client.send(new GetPublicKeyCommand({ KeyId }));
    expect(answer).toMatchObject({ KeyId: created?.Arn, KeySpec: spec, KeyUsage: "SIGN_VERIFY" });
    const publicKey = createPublicKey({
      key: Buffer.from(answer.PublicKey ?? []),
      format: "der",
      type: "spki",
    });
    const signature = await sign({ KeyId });
    expect(verify("sha256", message, publicKey, signature)).toBe(true);
    expect(verify("sha256", Buffer.from("another"), publicKey, signature)).toBe(false);
  }
});

test("signs the same message differently each time, with a high s half of the time", async () => {
  const seen = new Set<string>();
  let high = 0;
  for (let n = 0; n < 60; n++) {
    const signature = Buffer.from(await sign({}));
    seen.add(signature.toString("hex"));
    // An s of 33 bytes has its highest bit set, so it is in the upper half of the curve's order.
    const rLength = signature[3] ?? 0;
    if (signature[5 + rLength] === 33) high++;
  }
  expect(seen.size).toBe(60);
  expect(high).toBeGreaterThan(10);
  expect(high).toBeLessThan(50);
});

test.each<[string, Partial<SignCommandInput>]>([
  ["NotFoundException", { KeyId: "alias/nobody" }],
  ["ValidationException", { MessageType: "DIGEST", Message: new Uint8Array(31) }],
  ["ValidationException", { MessageType: "DIGEST", Message: new Uint8Array(33) }],
  ["ValidationException", { Message: new Uint8Array(4097) }],
  ["ValidationException", { Message: new Uint8Array() }],
  ["ValidationException", { MessageType: "EXTERNAL_MU" }],
  ["InvalidKeyUsageException", { SigningAlgorithm: "ECDSA_SHA_384" }],
])("refuses with %s: %o", async (name, input) => {
  await expect(sign(input)).rejects.toMatchObject({ name, $metadata: { httpStatusCode: 400 } });
});

test("respects a key's state and policy", async () => {
  key.state = "Disabled";
  await expect(sign({})).rejects.toMatchObject({ name: "DisabledException" });
  key.state = "PendingDeletion";
  await expect(sign({})).rejects.toMatchObject({ name: "KMSInvalidStateException" });
  key.state = "Enabled";
  key.denied.add("Sign");
  await expect(sign({})).rejects.toMatchObject({ name: "AccessDeniedException" });
});

test("faults look to the client like real ones", async () => {
  kms.onCall(() => ({ kind: "throttle" }));
  await expect(sign({})).rejects.toMatchObject({ name: "ThrottlingException" });
  kms.onCall(() => ({ kind: "internal" }));
  await expect(sign({})).rejects.toMatchObject({
    name: "KMSInternalException",
    $metadata: { httpStatusCode: 500 },
  });
  kms.onCall(() => ({ kind: "drop" }));
  await expect(sign({})).rejects.toMatchObject({ code: "ECONNRESET" });
  kms.onCall(undefined);
  expect(await sign({})).not.toHaveLength(0);
});

test("refuses a call without a complete and current signature for this service and region", async () => {
  const now = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const day = now.slice(0, 8);
  const whole = (scope: string, names = "host;x-amz-date", signature = "0".repeat(64)): string =>
    `AWS4-HMAC-SHA256 Credential=local/${scope}/aws4_request, SignedHeaders=${names}, Signature=${signature}`;
  const callWith = async (authorization: string | undefined, date = now): Promise<unknown> => {
    const response = await fetch(kms.url, {
      method: "POST",
      headers: {
        "x-amz-target": "TrentService.DescribeKey",
        "content-type": "application/x-amz-json-1.1",
        "x-amz-date": date,
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: JSON.stringify({ KeyId: key.id }),
    });
    const body = (await response.json()) as { readonly __type?: string };
    return `${response.status} ${body.__type ?? "ok"}`;
  };
  expect(await callWith(whole(`${day}/eu-west-1/kms`))).toBe("200 ok");
  expect(await callWith(undefined)).toBe("400 MissingAuthenticationTokenException");
  expect(await callWith("Bearer x")).toBe("400 IncompleteSignatureException");
  expect(await callWith(whole(`${day}/eu-west-1/kms`, undefined, "00"))).toBe(
    "400 IncompleteSignatureException",
  );
  expect(await callWith(whole(`20200101/eu-west-1/kms`))).toBe("400 IncompleteSignatureException");
  expect(await callWith(whole(`${day}/eu-west-1/s3`))).toBe("400 InvalidSignatureException");
  expect(await callWith(whole(`${day}/us-east-1/kms`))).toBe("400 InvalidSignatureException");
  expect(await callWith(whole(`${day}/eu-west-1/kms`, "host"))).toBe("400 InvalidSignatureException");
  expect(await callWith(whole(`20200101/eu-west-1/kms`), "20200101T000000Z")).toBe(
    "400 InvalidSignatureException",
  );
});

test("refuses an unknown operation and a body that is not a JSON object", async () => {
  const unknown = await fetch(kms.url, {
    method: "POST",
    headers: { "x-amz-target": "TrentService.Encrypt" },
  });
  expect([unknown.status, await unknown.json()]).toMatchObject([
    400,
    { __type: "UnknownOperationException" },
  ]);
});

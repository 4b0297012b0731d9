import { awsKmsSigner, nativeCurve, portableCurve, rawKeySigner, type AwsKmsSigner } from "@causeway/attest";
import { startKms } from "@causeway/simulators/kms";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, vi } from "vitest";
import { signerContract } from "../../contracts/signer.ts";

const KEY = `0x${"5eed".repeat(16)}` as const;
const address = privateKeyToAddress(KEY);

signerContract("a raw key, native curve", address, async () => rawKeySigner(KEY, nativeCurve()));
signerContract("a raw key, portable curve", address, async () => rawKeySigner(KEY, portableCurve));

vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
const kms = await startKms({ region: "eu-west-1" });
const { id: keyId } = kms.importKey(KEY);
let remote: Promise<AwsKmsSigner> | undefined;
signerContract("a key in AWS KMS", address, async () => {
  return await (remote ??= awsKmsSigner({ keyId, region: kms.region, endpoint: kms.url }));
});

afterAll(async () => {
  (await remote)?.close();
  await kms.stop();
  vi.unstubAllEnvs();
});

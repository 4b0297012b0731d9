import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  awsKmsSigner,
  ethRpcSigner,
  googleKmsSigner,
  nativeCurve,
  portableCurve,
  rawKeySigner,
  web3Signer,
  type Signer,
} from "@causeway/attest";
import { startGoogleKms, startKms, startRemoteSigner } from "@causeway/simulators/kms";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, vi } from "vitest";
import { digestSignerContract, signerContract } from "../../contracts/signer.ts";

const KEY = `0x${"5eed".repeat(16)}` as const;
const address = privateKeyToAddress(KEY);
const account = address.toLowerCase() as `0x${string}`;

vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
const folder = await mkdtemp(join(tmpdir(), "signers-"));
const credentialsFile = join(folder, "account.json");
const [aws, google, vault] = await Promise.all([
  startKms({ region: "eu-west-1" }),
  startGoogleKms(KEY),
  startRemoteSigner({ privateKeys: [`0x${"0b5e".repeat(16)}`, KEY], credentials: "solver:s3cr:et" }),
]);
await writeFile(credentialsFile, JSON.stringify(google.serviceAccount));
const { id: keyId } = aws.importKey(KEY);
const url = vault.url.replace("http://", "http://solver:s3cr%3Aet@");

/** Opens a signer once, for all tests. */
function once<S extends Signer>(open: () => Promise<S>): () => Promise<S> {
  let opened: Promise<S> | undefined;
  return async () => await (opened ??= open());
}

const inAws = once(() => awsKmsSigner({ keyId, region: aws.region, endpoint: aws.url }));
const inGoogle = once(() => googleKmsSigner({ name: google.name, endpoint: google.url, credentialsFile }));
const byMetadata = once(() =>
  googleKmsSigner({ name: google.name, endpoint: google.url, metadataHost: google.metadataHost }),
);
const inWeb3Signer = once(async () => web3Signer({ url, address: account }));
const inVault = once(async () => ethRpcSigner({ url, address: account }));

const digestSigners = {
  "a raw key, native curve": async () => rawKeySigner(KEY, nativeCurve()),
  "a raw key, portable curve": async () => rawKeySigner(KEY, portableCurve),
  "a key in AWS KMS": inAws,
  "a key in Google Cloud KMS, by a service account": inGoogle,
  "a key in Google Cloud KMS, by the metadata server": byMetadata,
};
for (const [name, make] of Object.entries(digestSigners)) {
  signerContract(name, address, make);
  digestSignerContract(name, make);
}
signerContract("a key in Web3Signer", address, inWeb3Signer);
signerContract("a key behind eth_signTransaction", address, inVault);

afterAll(async () => {
  await Promise.all(
    [inAws, inGoogle, byMetadata, inWeb3Signer, inVault].map(async (make) => (await make()).close()),
  );
  await Promise.all([aws.stop(), google.stop(), vault.stop(), rm(folder, { recursive: true })]);
  vi.unstubAllEnvs();
});

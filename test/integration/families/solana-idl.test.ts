import { createHash, createPrivateKey, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  depositNativeInstruction,
  depositTokenInstruction,
  deriveDepositAddress,
  sweepNativeInstruction,
  sweepTokenInstruction,
} from "@causeway/chains/solana";
import type { Hex32 } from "@causeway/domain";
import {
  encodeSolanaTransferRequest,
  solanaTransferRequestId,
  type SolanaTransferRequest,
} from "@causeway/families/solana";
import { repositoryRoot } from "@causeway/testkit";
import {
  askNode,
  createDepository,
  createMint,
  depositAddressProgram,
  executeInstruction,
  initializeInstruction,
  LOCAL_DEPOSIT_ADDRESSES,
  mintTo,
  programDataAddress,
  sendInstructions,
  signatureCheckInstruction,
  solanaKey,
  startSolana,
  type LocalDepository,
  type LocalMint,
  type PlainInstruction,
  type RunningSolana,
  type SolanaKey,
} from "@causeway/simulators/solana";

// Checks the interfaces, sizes and compute units that packages/contracts/solana documents.

const folder = join(repositoryRoot, "packages/contracts/solana");
const reportFile = join(folder, "compute-units.json");
const read = (name: string): Buffer => readFileSync(join(folder, name));

interface IdlAccount {
  readonly name: string;
  readonly writable?: boolean;
  readonly signer?: boolean;
}
interface Named {
  readonly name: string;
  readonly discriminator: readonly number[];
}
interface Idl {
  readonly address: string;
  readonly instructions: readonly (Named & { readonly accounts: readonly IdlAccount[] })[];
  readonly accounts?: readonly Named[];
  readonly events?: readonly Named[];
  readonly errors: readonly { readonly code: number; readonly name: string }[];
}
const idls: Readonly<Record<"depository" | "deposit-address", Idl>> = {
  depository: JSON.parse(read("idl.json").toString()) as Idl,
  "deposit-address": JSON.parse(read("deposit-address.idl.json").toString()) as Idl,
};
/** Constants of the depository that the deposit address program uses for its calls. */
const DEPOSITORY_CONSTANTS = ["DEPOSIT_NATIVE", "DEPOSIT_TOKEN", "DEPOSITORY_ACCOUNT"];

const key = async (byte: number): Promise<SolanaKey> => await solanaKey(new Uint8Array(32).fill(byte));
const ID: Hex32 = `0x${"07".repeat(32)}`;

let node: RunningSolana;
let deployed: LocalDepository;
let user: SolanaKey;
let mint: LocalMint;
/** Compute units of each instruction of the depository, including its calls of other programs. */
const computeUnits: Record<string, number> = {};
const instructions: Record<string, PlainInstruction> = {};
/** Compute units of each instruction of the deposit address program. */
const addressUnits: Record<string, number> = {};
const sweeps: Record<string, PlainInstruction> = {};

// All keys and numbers are fixed, because some derived addresses take more compute units to find.
beforeAll(async () => {
  node = await startSolana({ slotMs: 0, finalityLag: 2 });
  user = await key(1);
  await askNode(node.url, "requestAirdrop", [user.address, 100_000_000_000]);
  deployed = await createDepository(node, { owner: await key(2), allocator: await key(3) });
  computeUnits["initialize"] = await computeUnitsOf((await signaturesOf(deployed.depository))[0] ?? "");
  mint = await createMint(node.url, { authority: user, decimals: 6, account: await key(4) });
  await mintTo(node.url, mint, user.address, 10_000_000n);

  const native = depositNativeInstruction({
    pdas: deployed,
    sender: user.address,
    amount: 50_000_000n,
    id: ID,
  });
  const token = await depositTokenInstruction({
    pdas: deployed,
    sender: user.address,
    amount: 1_000_000n,
    id: ID,
    mint: mint.mint,
    tokenProgram: mint.tokenProgram,
  });
  computeUnits["deposit_native"] = await run(native);
  computeUnits["deposit_token, first of a mint"] = await run(token);
  computeUnits["deposit_token"] = await run({ ...token });
  const lamportExecution = await execution("1".repeat(32), 1n);
  computeUnits["execute_transfer, lamports"] = await run(...lamportExecution);
  computeUnits["execute_transfer, tokens, new account"] = await run(...(await execution(mint.mint, 2n)));
  computeUnits["execute_transfer, tokens"] = await run(...(await execution(mint.mint, 3n)));

  instructions["initialize"] = initializeInstruction({
    ...deployed,
    owner: deployed.owner.address,
    allocator: deployed.allocator.address,
    programData: await programDataAddress(deployed.program),
    chainName: "solana",
  });
  instructions["deposit_native"] = native;
  instructions["deposit_token"] = token;
  instructions["execute_transfer"] = lamportExecution[1];
  await measureSweeps();
});

async function measureSweeps(): Promise<void> {
  const program = LOCAL_DEPOSIT_ADDRESSES;
  node.controls.addProgram(program, depositAddressProgram());
  const sweepOrigin = { operator: user.address, depositor: (await key(6)).address, id: ID, strict: true };
  const address = deriveDepositAddress(program, { ...sweepOrigin, depository: deployed.program });
  await askNode(node.url, "requestAirdrop", [address, 100_000_000]);
  await mintTo(node.url, mint, address, 3_000_000n);
  const terms = { program, pdas: deployed, from: sweepOrigin, orderId: ID, amount: 10_000_000n, excess: 0n };
  const tokenTerms = { ...terms, amount: 1_000_000n, mint: mint.mint, tokenProgram: mint.tokenProgram };
  const [native, token] = [sweepNativeInstruction(terms), await sweepTokenInstruction(tokenTerms)];
  addressUnits["sweep_native"] = await run(native);
  addressUnits["sweep_native, with an excess"] = await run(sweepNativeInstruction({ ...terms, excess: 1n }));
  addressUnits["sweep_token"] = await run(token);
  addressUnits["sweep_token, with an excess"] = await run(
    await sweepTokenInstruction({ ...tokenTerms, excess: 1n }),
  );
  sweeps["sweep_native"] = native;
  sweeps["sweep_token"] = token;
}

afterAll(async () => {
  await node.close();
});

async function signaturesOf(address: string): Promise<readonly string[]> {
  node.controls.finalize();
  const list = await askNode<{ signature: string }[]>(node.url, "getSignaturesForAddress", [address]);
  return list.map(({ signature }) => signature);
}

async function computeUnitsOf(signature: string): Promise<number> {
  const { meta } = await askNode<{ meta: { logMessages: string[] } }>(node.url, "getTransaction", [
    signature,
    { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 },
  ]);
  const programs = [deployed.program, LOCAL_DEPOSIT_ADDRESSES].join("|");
  const line = new RegExp(`^Program (?:${programs}) consumed (\\d+) of`);
  // The last matching log line is that of the outermost program.
  return Number(meta.logMessages.map((text) => line.exec(text)?.[1]).findLast((text) => text !== undefined));
}

async function run(...instructionList: readonly PlainInstruction[]): Promise<number> {
  const signature = await sendInstructions(node.url, [user], instructionList);
  node.controls.passSlots(1);
  return await computeUnitsOf(signature);
}

async function execution(
  token: string,
  nonce: bigint,
): Promise<readonly [PlainInstruction, PlainInstruction]> {
  const request: SolanaTransferRequest = {
    domain: deployed.domain,
    recipient: (await key(5)).address,
    token,
    amount: 500_000n,
    nonce,
    expiration: 4_000_000_000n,
    vaultAddress: deployed.vault,
  };
  // A payment in lamports must leave the recipient above the rent-exempt minimum.
  if (nonce === 1n) await askNode(node.url, "requestAirdrop", [request.recipient, 1_000_000]);
  const id = Buffer.from(solanaTransferRequestId(request).slice(2), "hex");
  const pkcs8 = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    deployed.allocator.seed,
  ]);
  const signature = sign(null, id, createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }));
  return [
    signatureCheckInstruction(deployed.allocator.address, signature, id),
    await executeInstruction(
      deployed,
      user.address,
      encodeSolanaTransferRequest(request),
      id,
      token === mint.mint ? mint.tokenProgram : undefined,
    ),
  ];
}

test("every program has its documented size, and every instruction its documented compute units", () => {
  const depositAddress = { bytes: read("deposit-address.so").length, units: addressUnits };
  const report = { bytes: read("depository.so").length, units: computeUnits, depositAddress };
  if (process.env["UPDATE_GAS"] !== undefined)
    writeFileSync(reportFile, `${JSON.stringify(report, undefined, 2)}\n`);
  expect(report).toEqual(JSON.parse(readFileSync(reportFile, "utf8")));
  // The limit for a transaction with one instruction that requests no more.
  for (const used of Object.values({ ...computeUnits, ...addressUnits })) expect(used).toBeLessThan(200_000);
});

test("the committed programs were built from the committed sources", () => {
  const hash = (name: string) => createHash("sha256").update(read(name)).digest("hex");
  const built = JSON.parse(read("built.json").toString()) as Record<string, unknown>;
  expect(Object.keys(built)).toEqual(["depository", "deposit-address", "test/forwarder", "test/pool"]);
  for (const [name, hashes] of Object.entries(built))
    expect(hashes).toEqual({ source: hash(`${name}.c`), program: hash(`${name}.so`) });
});

test.each(["depository", "deposit-address"] as const)(
  "the IDL of %s has the discriminators and error codes of the source",
  (name) => {
    const idl = idls[name];
    const source = read(`${name}.c`).toString();
    const words = [...source.matchAll(/^#define (\w+) (0x[0-9a-f]+)ULL$/gm)];
    const isDefinedHere = (word: string): boolean =>
      name === "depository" || !DEPOSITORY_CONSTANTS.includes(word);
    const sourceConstants = Object.fromEntries(
      words.flatMap(([, word = "", value = "0"]) => (isDefinedHere(word) ? [[word, BigInt(value)]] : [])),
    );
    const toSnakeCase = (text: string) => text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase();
    const idlConstants = [
      ...idl.instructions.map((instruction) => ({ word: instruction.name.toUpperCase(), ...instruction })),
      ...(idl.events ?? []).map((event) => ({ word: toSnakeCase(event.name), ...event })),
      ...(idl.accounts ?? []).map((account) => ({
        word: `${toSnakeCase(account.name)}_ACCOUNT`,
        ...account,
      })),
    ];
    expect(
      Object.fromEntries(
        idlConstants.map(({ word, discriminator }) => [word, Buffer.from(discriminator).readBigUInt64LE()]),
      ),
    ).toEqual(sourceConstants);
    const codes = /enum \{([^}]*)\}/.exec(source)?.[1] ?? "";
    expect(idl.errors.map(({ code, name: error }) => [toSnakeCase(error), code])).toEqual(
      [...codes.matchAll(/[A-Z]\w+/g)].map(([error], index) => [error, 6_000 + index]),
    );
  },
);

test("the deposit address program calls the depository with the discriminators of its IDL", () => {
  const value = (source: string, word: string) =>
    new RegExp(`^#define ${word} (0x[0-9a-f]+)ULL$`, "m").exec(source)?.[1];
  const [depositAddress, depository] = ["deposit-address.c", "depository.c"].map((name) =>
    read(name).toString(),
  );
  for (const word of DEPOSITORY_CONSTANTS) {
    expect(value(depository ?? "", word)).toMatch(/^0x/);
    expect(value(depositAddress ?? "", word)).toBe(value(depository ?? "", word));
  }
});

test.each(["depository", "deposit-address"] as const)(
  "every instruction of %s has the accounts and the discriminator of the IDL",
  (program) => {
    const idl = idls[program];
    const built = program === "depository" ? instructions : sweeps;
    expect(Object.keys(built)).toEqual(idl.instructions.map(({ name }) => name));
    for (const { name, discriminator, accounts } of idl.instructions) {
      const { data, keys = [] } = built[name] ?? { data: "" };
      const bytes =
        typeof data === "string" ? Buffer.from(data.replace(/^0x/, ""), "hex") : Buffer.from(data);
      expect([...bytes.subarray(0, 8)]).toEqual(discriminator);
      expect(keys.map(({ isSigner }) => isSigner)).toEqual(accounts.map(({ signer = false }) => signer));
      const writable = accounts.map(({ writable: account = false }, index) =>
        // The program's own address stands for an omitted account.
        keys[index]?.pubkey === idl.address ? false : account,
      );
      expect(keys.map(({ isWritable }) => isWritable)).toEqual(writable);
    }
  },
);

import { expect, test } from "vitest";
import type { Hex } from "@causeway/domain";
import { encodeSolanaTransferRequest } from "./withdrawals/transfer-request.ts";
import { nativeCurrency } from "../address.ts";
import { RpcFault } from "../rpc-fault.ts";
import { depositoryAccounts } from "./deposits/depository-accounts.ts";
import type { AccountFact } from "./answers/transaction-facts.ts";
import { SYSTEM_PROGRAM } from "./answers/programs.ts";
import { outcomeOf, readWithdrawal, type WithdrawalState } from "./withdrawals.ts";

const pdas = await depositoryAccounts("99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2");
const RECIPIENT = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV";
const EXPIRATION = 1_800_000_000n;

const account = (owner: string, hex: string, length: number): AccountFact => ({
  owner,
  lamports: 1n,
  data: Uint8Array.from(Buffer.concat([Buffer.from(hex, "hex"), Buffer.alloc(length - hex.length / 2)])),
});
const depository = account(pdas.program, "80359cbdf353f56b", 106);
const used = account(pdas.program, "87866e4d9662b46b01", 9);
const clockAt = (seconds: bigint): AccountFact => {
  const data = Buffer.alloc(40);
  data.writeBigInt64LE(seconds, 32);
  return { owner: "Sysvar1111111111111111111111111111111111111", lamports: 1n, data: Uint8Array.from(data) };
};
const state = (fields: Partial<WithdrawalState>): WithdrawalState => ({
  depository,
  usedRequest: undefined,
  clock: clockAt(EXPIRATION + 1n),
  ...fields,
});
const outcome = (fields: Partial<WithdrawalState>) => outcomeOf(pdas, EXPIRATION, state(fields));

test("a record of the request proves its execution, at any time", () => {
  expect(outcome({ usedRequest: used })).toBe("executed");
  expect(outcome({ usedRequest: used, clock: clockAt(0n) })).toBe("executed");
});

test("a withdrawal without a record expires one second after its expiration, by the clock of the same state", () => {
  expect(outcome({})).toBe("expired");
  expect(outcome({ clock: clockAt(EXPIRATION) })).toBe("pending");
  expect(outcome({ clock: clockAt(EXPIRATION - 1n) })).toBe("pending");
});

test("ignores lamports sent to the address of the withdrawal record", () => {
  expect(outcome({ usedRequest: account(SYSTEM_PROGRAM, "", 0) })).toBe("expired");
});

test("a state that is impossible for the depository is the node's fault, and expires no withdrawal", () => {
  const states: readonly Partial<WithdrawalState>[] = [
    { depository: undefined },
    { depository: account(SYSTEM_PROGRAM, "80359cbdf353f56b", 106) },
    { depository: account(pdas.program, "87866e4d9662b46b", 106) },
    { clock: undefined },
    { clock: { ...clockAt(EXPIRATION + 1n), data: new Uint8Array(39) } },
    { usedRequest: account(pdas.program, "87866e4d9662b46b00", 9) },
    { usedRequest: account(pdas.program, "80359cbdf353f56b01", 9) },
    { usedRequest: account(RECIPIENT, "87866e4d9662b46b01", 9) },
    { usedRequest: account(SYSTEM_PROGRAM, "01", 9) },
  ];
  for (const fields of states) expect(() => outcome(fields)).toThrow(RpcFault);
});

test("reads a payload only if it is for this vault and pays a recipient", () => {
  const request = {
    domain: `0x${"11".repeat(32)}` as const,
    recipient: RECIPIENT,
    token: nativeCurrency("solana-vm"),
    amount: 5n,
    nonce: 1n,
    expiration: EXPIRATION,
    vaultAddress: pdas.vault as string,
  };
  const payload = encodeSolanaTransferRequest(request);
  expect(readWithdrawal(pdas, payload)).toMatchObject({
    recipient: RECIPIENT,
    currency: request.token,
    amount: 5n,
    expiration: EXPIRATION,
  });
  const invalidPayloads: readonly Hex[] = [
    `${payload}00`,
    payload.slice(0, -2) as Hex,
    "0x",
    encodeSolanaTransferRequest({ ...request, vaultAddress: RECIPIENT }),
    encodeSolanaTransferRequest({ ...request, recipient: pdas.vault }),
    encodeSolanaTransferRequest({ ...request, amount: 0n }),
  ];
  for (const fields of invalidPayloads) expect(readWithdrawal(pdas, fields)).toHaveProperty("refusal");
});

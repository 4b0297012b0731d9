import {
  recoverSigner,
  signatureToHex,
  signPersonalMessage,
  signTypedData,
  type Signer,
} from "@causeway/attest";
import { signTransaction, type UnsignedTransaction } from "@causeway/chains";
import { orderDomain, orderTypes } from "@causeway/domain";
import {
  hexToBytes,
  keccak256,
  recoverAddress,
  recoverTransactionAddress,
  toHex,
  verifyMessage,
  verifyTypedData,
  type Hex,
} from "viem";
import { expect, test } from "vitest";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const digestOf = (text: string): Hex => keccak256(toHex(text));

const transaction: UnsignedTransaction = {
  chainId: 8453,
  nonce: 0,
  to: `0x${"22".repeat(20)}`,
  value: 0n,
  data: "0xdeadbeef",
  gas: 90_000n,
  maxFeePerGas: 3_000_000_000n,
  maxPriorityFeePerGas: 1n,
};
const transactions: readonly UnsignedTransaction[] = [
  transaction,
  { ...transaction, chainId: 1, nonce: 7, value: 10n ** 30n, data: "0x" },
  {
    ...transaction,
    authorizationList: [
      {
        chainId: 8453,
        address: `0x${"33".repeat(20)}`,
        nonce: 0,
        yParity: 1,
        r: `0x${"0a".repeat(32)}`,
        s: `0x${"0b".repeat(32)}`,
      },
    ],
  },
];

const order = {
  version: "v1",
  solverChainId: "base",
  solver: `0x${"44".repeat(20)}`,
  salt: 2n ** 255n,
  inputs: [],
  output: { chainId: "arbitrum", payments: [], deadline: 4_294_967_295, calls: ["0x01"], extraData: "0x" },
  fees: [],
} as const;

/**
 * What every signer must guarantee, even if it signs no bare digests: it signs the service's transactions and
 * messages, and viem verifies them.
 * @param make creates the signer of `address`
 */
export function signerContract(name: string, address: Hex, make: () => Promise<Signer>): void {
  test(`${name}: reports the address of its key in lower case`, async () => {
    expect((await make()).address).toBe(address.toLowerCase());
  });

  test(`${name}: signs transactions that come from its address and have exactly the requested fields`, async () => {
    const signer = await make();
    for (const unsigned of transactions) {
      const { raw, hash } = await signTransaction(unsigned, (digest, preimage) =>
        signer.signDigest(digest, preimage),
      );
      expect(hash).toBe(keccak256(raw));
      const from = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
      expect(from.toLowerCase()).toBe(signer.address);
    }
  });

  test(`${name}: signs each of fifty concurrent transactions separately`, async () => {
    const signer = await make();
    const froms = await Promise.all(
      Array.from({ length: 50 }, async (_, nonce) => {
        const { raw } = await signTransaction({ ...transaction, nonce }, (digest, preimage) =>
          signer.signDigest(digest, preimage),
        );
        return await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
      }),
    );
    expect(new Set(froms.map((from) => from.toLowerCase()))).toEqual(new Set([signer.address]));
  });

  test(`${name}: a personal message over 32 bytes verifies with wallets' libraries`, async () => {
    const signer = await make();
    const id = digestOf("an order");
    const signature = await signPersonalMessage(signer, id);
    expect(
      await verifyMessage({ address: signer.address, message: { raw: hexToBytes(id) }, signature }),
    ).toBe(true);
  });

  test(`${name}: typed data verifies with wallets' libraries`, async () => {
    const signer = await make();
    const typed = { domain: orderDomain, types: orderTypes, primaryType: "Order", message: order } as const;
    const signature = await signTypedData(signer, typed);
    expect(await verifyTypedData({ ...typed, address: signer.address, signature })).toBe(true);
  });

  test(`${name}: data that is not a digest is not signed`, async () => {
    const signer = await make();
    for (const bad of ["0x", "0x01", `0x${"11".repeat(33)}`, "11".repeat(32), `0x${"zz".repeat(32)}`])
      await expect(signer.signDigest(bad as Hex)).rejects.toThrow(RangeError);
  });
}

/**
 * What a signer whose key service signs any digest must guarantee in addition.
 * @param make creates the signer
 */
export function digestSignerContract(name: string, make: () => Promise<Signer>): void {
  test(`${name}: signatures have 65 bytes, s in the lower half and v 27 or 28, and recover to the signer's address`, async () => {
    const signer = await make();
    const parities = new Set<number>();
    for (let n = 0; n < 40; n++) {
      const digest = digestOf(`${name} ${n} ${Math.random()}`);
      const signature = await signer.signDigest(digest);
      const hex = signatureToHex(signature);
      expect(hex).toMatch(/^0x[0-9a-f]{128}(1b|1c)$/);
      expect(BigInt(signature.s)).toBeLessThanOrEqual(ORDER / 2n);
      expect((await recoverAddress({ hash: digest, signature: hex })).toLowerCase()).toBe(signer.address);
      expect(recoverSigner(digest, hex)).toBe(signer.address);
      parities.add(signature.yParity);
    }
    expect([...parities].toSorted()).toEqual([0, 1]);
  });

  test(`${name}: each of fifty concurrent signatures matches the digest that was requested`, async () => {
    const signer = await make();
    const digests = Array.from({ length: 50 }, (_, n) => digestOf(`${name} at once ${n}`));
    const signatures = await Promise.all(digests.map(async (digest) => await signer.signDigest(digest)));
    expect(
      signatures.map((signature, n) => recoverSigner(digests[n] ?? "0x", signatureToHex(signature))),
    ).toEqual(digests.map(() => signer.address));
  });

  test(`${name}: digests with leading zeros and of the largest numbers are signed unchanged`, async () => {
    const signer = await make();
    for (const digest of [
      `0x${"00".repeat(31)}01`,
      `0x${"00".repeat(32)}`,
      `0x${"ff".repeat(32)}`,
    ] as const) {
      const signature = signatureToHex(await signer.signDigest(digest));
      expect((await recoverAddress({ hash: digest, signature })).toLowerCase()).toBe(signer.address);
    }
  });
}

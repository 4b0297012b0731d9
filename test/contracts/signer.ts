import { recoverSigner, signatureToHex, type Signer } from "@causeway/attest";
import { hexToBytes, keccak256, recoverAddress, toHex, verifyMessage, type Hex } from "viem";
import { expect, test } from "vitest";
import { signPersonalMessage } from "@causeway/attest";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const digestOf = (text: string): Hex => keccak256(toHex(text));

/**
 * What every signer guarantees. Verified by viem, with which none of them signs.
 * @param make the signer of `address`
 */
export function signerContract(name: string, address: Hex, make: () => Promise<Signer>): void {
  test(`${name}: it reports the address of its key, in lower case`, async () => {
    expect((await make()).address).toBe(address.toLowerCase());
  });

  test(`${name}: its signatures recover to its address, with s in the lower half, v 27 or 28, and 65 bytes`, async () => {
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

  test(`${name}: each of fifty concurrent signatures belongs to its own digest`, async () => {
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

  test(`${name}: data that is not a digest is not signed`, async () => {
    const signer = await make();
    for (const bad of ["0x", "0x01", `0x${"11".repeat(33)}`, "11".repeat(32), `0x${"zz".repeat(32)}`])
      await expect(signer.signDigest(bad as Hex)).rejects.toThrow(RangeError);
  });

  test(`${name}: a personal message over 32 bytes verifies with wallets' libraries`, async () => {
    const signer = await make();
    const id = digestOf("an order");
    const signature = await signPersonalMessage(signer, id);
    expect(
      await verifyMessage({ address: signer.address, message: { raw: hexToBytes(id) }, signature }),
    ).toBe(true);
  });
}

import { expect, test } from "vitest";
import type { Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Payer } from "./payers/payer.ts";
import { sendSlots } from "./send-slots.ts";

test("counts a slot as being sent until the last of two runs that send it has ended", async () => {
  const slot = { id: "7", state: "open", attempts: [{ n: 0 }] } as unknown as Slot;
  const slotsBeingSent = new Map<string, number>();
  const services = { slotsBeingSent, reads: {} as Services["reads"] };
  const run = () => {
    const answer = Promise.withResolvers<ReadonlyMap<string, Error>>();
    const payer = { send: async () => await answer.promise } as unknown as Payer;
    const done = sendSlots(services, payer, [slot], { isNew: false });
    return { done, answer };
  };
  const [slow, quick] = [run(), run()];
  quick.answer.resolve(new Map());
  await quick.done;
  expect([...slotsBeingSent.keys()]).toEqual(["7"]);
  slow.answer.reject(new Error("the node is unreachable"));
  await expect(slow.done).rejects.toThrow("the node is unreachable");
  expect(slotsBeingSent.size).toBe(0);
});

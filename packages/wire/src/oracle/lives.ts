import { z } from "zod";

/** Answer of `GET /lives/v1`. */
export const livesAnswer = z.object({ status: z.literal("ok") }).meta({ id: "Lives" });

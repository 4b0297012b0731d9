import type { SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";

/** Limits on the gas that the service advances for signatures of users. */
export const permitSettings = {
  permitDailyUsd: setting.usd({
    name: "PERMIT_DAILY_GAS_USD",
    default: "500",
    describe:
      "Maximum gas cost per UTC day of permit signatures that are pending or failed. Pending ones count at their maximum cost. Above it, `POST /execute/permits` returns `SERVICE_UNAVAILABLE`. Gas does not count once its request is filled, because the fees of the request cover it.",
  }),
  permitsPerUser: setting.integer({
    name: "PERMIT_MAX_PER_USER",
    min: 1,
    max: 100_000,
    default: 20,
    describe: "Maximum number of permit signatures per user and hour that are pending or failed.",
  }),
};

export interface PermitConfig {
  /** USD as a decimal number. */
  readonly dailyUsd: string;
  /** Signatures of one user within an hour. */
  readonly perUser: number;
}

export function permitConfig(permits: SettingValues<typeof permitSettings>): PermitConfig {
  return { dailyUsd: permits.permitDailyUsd, perUser: permits.permitsPerUser };
}

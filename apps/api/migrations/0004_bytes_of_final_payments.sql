ALTER TABLE "slots" ADD COLUMN "final_at_ms" bigint;
ALTER TABLE "hub_transactions" ADD COLUMN "final_at_ms" bigint;

CREATE TABLE "held_payments" (
	"leg_kind" text NOT NULL,
	"leg_id" text NOT NULL,
	"request_id" text,
	"chain_id" bigint NOT NULL,
	"sender" text NOT NULL,
	"rule" text NOT NULL,
	"why" text NOT NULL,
	"since_ms" bigint NOT NULL,
	"seen_at_ms" bigint NOT NULL,
	CONSTRAINT "held_payments_leg_kind_leg_id_pk" PRIMARY KEY("leg_kind","leg_id")
);

CREATE TABLE "pauses" (
	"scope" text PRIMARY KEY NOT NULL,
	"paused_by" text NOT NULL,
	"reason" text NOT NULL,
	"since_ms" bigint NOT NULL
);

CREATE TABLE "spent_days" (
	"chain_id" bigint NOT NULL,
	"key_name" text NOT NULL,
	"day" bigint NOT NULL,
	"usd" numeric(78, 0) NOT NULL,
	CONSTRAINT "spent_days_chain_id_key_name_day_pk" PRIMARY KEY("chain_id","key_name","day")
);

CREATE TABLE "spent_slots" (
	"slot_id" bigint PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"key_name" text NOT NULL,
	"day" bigint NOT NULL,
	"usd" numeric(78, 0) NOT NULL
);

CREATE INDEX "held_payments_request" ON "held_payments" USING btree ("request_id");
CREATE TABLE "notice_alarms" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notice_alarms_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"rule" text NOT NULL,
	"subject" text NOT NULL,
	"severity" text NOT NULL,
	"text" text NOT NULL,
	"at_ms" bigint NOT NULL
);

CREATE TABLE "notice_deliveries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notice_deliveries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"channel" text NOT NULL,
	"message" text NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_at_ms" bigint NOT NULL,
	"lease_until_ms" bigint DEFAULT 0 NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint
);

CREATE TABLE "notice_states" (
	"rule" text NOT NULL,
	"subject" text NOT NULL,
	"severity" text NOT NULL,
	"is_condition" boolean NOT NULL,
	"seen_at_ms" bigint NOT NULL,
	"notified_at_ms" bigint NOT NULL,
	"unreported" integer NOT NULL,
	CONSTRAINT "notice_states_rule_subject_pk" PRIMARY KEY("rule","subject")
);

CREATE INDEX "notice_deliveries_due" ON "notice_deliveries" USING btree ("channel","next_at_ms") WHERE "notice_deliveries"."ended_at_ms" is null;
CREATE INDEX "notice_deliveries_newest" ON "notice_deliveries" USING btree ("created_at_ms");
CREATE INDEX "notice_states_seen" ON "notice_states" USING btree ("seen_at_ms");
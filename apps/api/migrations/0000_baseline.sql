CREATE SEQUENCE "public"."deposit_address_observations" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;
CREATE TABLE "announcements" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "announcements_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"channel" text NOT NULL,
	"payload" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE "job_runs" (
	"job_name" text NOT NULL,
	"leg_id" text NOT NULL,
	"job_id" text NOT NULL,
	"ran_at_ms" bigint NOT NULL,
	"lost_after_ms" bigint NOT NULL,
	"rescues" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "job_runs_job_name_leg_id_pk" PRIMARY KEY("job_name","leg_id")
);

CREATE TABLE "outbox" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"job_name" text NOT NULL,
	"job_id" text NOT NULL,
	"payload" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"published_at_ms" bigint
);

CREATE TABLE "idempotency_keys" (
	"scope" text NOT NULL,
	"endpoint" text NOT NULL,
	"key" text NOT NULL,
	"body_hash" text NOT NULL,
	"lease_token" text NOT NULL,
	"lease_until_ms" bigint NOT NULL,
	"status" integer,
	"body" text,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "idempotency_keys_scope_endpoint_key_pk" PRIMARY KEY("scope","endpoint","key"),
	CONSTRAINT "idempotency_keys_check" CHECK (("idempotency_keys"."status" is null) = ("idempotency_keys"."body" is null))
);

CREATE TABLE "price_exposure" (
	"price_id" text PRIMARY KEY NOT NULL,
	"minute" bigint NOT NULL,
	"usd" numeric(78, 0) NOT NULL,
	CONSTRAINT "price_exposure_usd_check" CHECK ("price_exposure"."usd" >= 0)
);

CREATE TABLE "app_fees_due" (
	"request_id" text PRIMARY KEY NOT NULL,
	"since_ms" bigint NOT NULL
);

CREATE TABLE "app_wallets" (
	"wallet" text PRIMARY KEY NOT NULL,
	"created_at_ms" bigint NOT NULL
);

CREATE TABLE "fee_reservation_parts" (
	"reservation_id" bigint NOT NULL,
	"n" integer NOT NULL,
	"chain_id" bigint NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"usd" numeric(78, 0) NOT NULL,
	CONSTRAINT "fee_reservation_parts_reservation_id_n_pk" PRIMARY KEY("reservation_id","n")
);

CREATE TABLE "fee_reservations" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "fee_reservations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"request_id" text NOT NULL,
	"wallet" text NOT NULL,
	"usd" numeric(78, 0) NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"closed_at_ms" bigint,
	"purpose" text DEFAULT 'execution' NOT NULL,
	"round" integer DEFAULT 1 NOT NULL,
	"key_id" text,
	"day" integer,
	"user_address" text,
	"paid_usd" numeric(78, 0),
	CONSTRAINT "fee_reservations_purpose_check" CHECK ("fee_reservations"."purpose" in ('execution', 'fees')),
	CONSTRAINT "fee_reservations_state_check" CHECK ("fee_reservations"."state" in ('open', 'paid', 'released'))
);

CREATE TABLE "holds" (
	"request_id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"key_id" text NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"usd" numeric(78, 0) NOT NULL,
	"chain_id" bigint NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"debits" integer DEFAULT 0 NOT NULL,
	"placed_at_ms" bigint NOT NULL,
	"resolved_at_ms" bigint,
	"surplus_usd" numeric(78, 0) DEFAULT 0 NOT NULL,
	CONSTRAINT "holds_state_check" CHECK ("holds"."state" in ('active', 'released', 'permanent')),
	CONSTRAINT "holds_usd_check" CHECK ("holds"."usd" >= 0)
);

CREATE TABLE "ledger_accounts" (
	"wallet" text NOT NULL,
	"account" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"currency" text NOT NULL,
	CONSTRAINT "ledger_accounts_wallet_account_chain_id_currency_pk" PRIMARY KEY("wallet","account","chain_id","currency")
);

CREATE TABLE "ledger_entries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ledger_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"movement_id" bigint NOT NULL,
	"account" text NOT NULL,
	"wallet" text,
	"chain_id" bigint NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"seq" bigint,
	"balance_after" numeric(78, 0),
	CONSTRAINT "ledger_entries_movement_id_account_chain_id_currency_unique" UNIQUE("movement_id","account","chain_id","currency"),
	CONSTRAINT "ledger_account_known" CHECK ((("ledger_entries"."wallet" is null) and ("ledger_entries"."account" in ('custody', 'fees', 'fronted')) and ("ledger_entries"."seq" is null) and ("ledger_entries"."balance_after" is null)) or (("ledger_entries"."wallet" is not null) and ("ledger_entries"."account" in ('balance', 'pending', 'owed')) and ("ledger_entries"."seq" is not null) and ("ledger_entries"."balance_after" is not null))),
	CONSTRAINT "ledger_entries_amount_check" CHECK ("ledger_entries"."amount" <> 0),
	CONSTRAINT "ledger_never_overdrawn" CHECK (("ledger_entries"."balance_after" is null) or (("ledger_entries"."account" = 'owed') and ("ledger_entries"."balance_after" <= 0)) or (("ledger_entries"."account" <> 'owed') and ("ledger_entries"."balance_after" >= 0)))
);

CREATE TABLE "ledger_movements" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ledger_movements_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"movement_key" text NOT NULL,
	"context" text NOT NULL,
	"reason" text NOT NULL,
	"wallet" text NOT NULL,
	"request_id" text,
	"created_at_ms" bigint NOT NULL,
	"written_by" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "ledger_movements_movement_key_unique" UNIQUE("movement_key")
);

CREATE TABLE "app_top_ups" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "app_top_ups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" bigint NOT NULL,
	"tx_hash" text NOT NULL,
	"ordinal" integer NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"canonical" boolean NOT NULL,
	"confirm_at_block" bigint NOT NULL,
	"sender" text NOT NULL,
	"wallet" text,
	"currency" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"state" text NOT NULL,
	"credits" integer DEFAULT 0 NOT NULL,
	"seen_at_ms" bigint NOT NULL,
	CONSTRAINT "app_top_ups_state_check" CHECK ("app_top_ups"."state" in ('seen', 'credited', 'unattributed'))
);

CREATE TABLE "claims" (
	"claim_id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"currency" text NOT NULL,
	"recipient" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"fee_amount" numeric(78, 0) NOT NULL,
	"expires_at" bigint NOT NULL,
	"state" text DEFAULT 'offered' NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"tx_hash" text,
	"fail_reason" text,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	CONSTRAINT "claims_amount_check" CHECK ("claims"."amount" > 0),
	CONSTRAINT "claims_fee_amount_check" CHECK ("claims"."fee_amount" >= 0),
	CONSTRAINT "claims_state_check" CHECK ("claims"."state" in ('offered', 'paying', 'paid', 'returned'))
);

CREATE TABLE "request_events" (
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "request_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"request_id" text NOT NULL,
	"at_ms" bigint NOT NULL,
	"event" text NOT NULL,
	"detail" text NOT NULL,
	CONSTRAINT "request_events_id_at_ms_pk" PRIMARY KEY("id","at_ms")
);

CREATE TABLE "requests" (
	"request_id" text PRIMARY KEY NOT NULL,
	"order_id" text NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"deposit_id" bigint,
	"fail_reason" text,
	"refund_fail_reason" text,
	"final" boolean DEFAULT false NOT NULL,
	"origin_chain_id" bigint NOT NULL,
	"destination_chain_id" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"fill_deadline_ms" bigint NOT NULL,
	"in_tx_hashes" text[] DEFAULT '{}' NOT NULL,
	"tx_hashes" text[] DEFAULT '{}' NOT NULL,
	"refund_tx_hashes" text[] DEFAULT '{}' NOT NULL,
	"key_id" text,
	"terms" text NOT NULL,
	"front" text DEFAULT 'none' NOT NULL,
	"status_seq" integer DEFAULT 0 NOT NULL,
	"deposit_address" text,
	"superseded_by" text,
	"funds_held" boolean DEFAULT false NOT NULL,
	"funds_seen" boolean DEFAULT false NOT NULL,
	"state_since_ms" bigint,
	"kept" boolean DEFAULT false NOT NULL
);

CREATE TABLE "route_timings" (
	"origin_chain_id" bigint NOT NULL,
	"destination_chain_id" bigint NOT NULL,
	"samples" bigint NOT NULL,
	"average_ms" double precision NOT NULL,
	CONSTRAINT "route_timings_origin_chain_id_destination_chain_id_pk" PRIMARY KEY("origin_chain_id","destination_chain_id")
);

CREATE TABLE "status_events" (
	"request_id" text NOT NULL,
	"seq" integer NOT NULL,
	"key_id" text,
	"at_ms" bigint NOT NULL,
	"only_final" boolean NOT NULL,
	"state" text NOT NULL,
	"deposit_id" bigint,
	"fail_reason" text,
	"refund_fail_reason" text,
	"final" boolean NOT NULL,
	"front" text NOT NULL,
	"in_tx_hashes" text[] NOT NULL,
	"tx_hashes" text[] NOT NULL,
	"refund_tx_hashes" text[] NOT NULL,
	"funds_seen" boolean DEFAULT false NOT NULL,
	"funds_held" boolean DEFAULT false NOT NULL,
	CONSTRAINT "status_events_request_id_seq_pk" PRIMARY KEY("request_id","seq")
);

CREATE TABLE "currency_names" (
	"chain_id" bigint NOT NULL,
	"address" text NOT NULL,
	"asset" text,
	"symbol" text NOT NULL,
	"wraps_native" boolean DEFAULT false NOT NULL,
	CONSTRAINT "currency_names_chain_id_address_pk" PRIMARY KEY("chain_id","address")
);

CREATE TABLE "request_history" (
	"n" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "request_history_n_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"request_id" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"status" text NOT NULL,
	"fail_reason" text,
	"refund_fail_reason" text,
	"request_type" text NOT NULL,
	"user_address" text,
	"recipient" text,
	"deposit_address" text,
	"origin_chain_id" bigint NOT NULL,
	"destination_chain_id" bigint NOT NULL,
	"currency_in" text,
	"currency_out" text,
	"symbol_in" text,
	"symbol_out" text,
	"amount_usd" bigint NOT NULL,
	"app_fees_usd" bigint DEFAULT 0 NOT NULL,
	"features" text[] DEFAULT '{}' NOT NULL,
	"key_id" text,
	"referrer" text,
	"in_block" bigint,
	"in_seen_at_ms" bigint,
	"fill_ms" bigint
);

CREATE TABLE "request_transactions" (
	"tx_hash" text NOT NULL,
	"request_id" text NOT NULL,
	"kind" text NOT NULL,
	CONSTRAINT "request_transactions_tx_hash_request_id_kind_pk" PRIMARY KEY("tx_hash","request_id","kind")
);

CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"label" text NOT NULL,
	"secret_hash" "bytea" NOT NULL,
	"previous_secret_hash" "bytea",
	"previous_until_ms" bigint,
	"scopes" text[] NOT NULL,
	"referrers" text[] NOT NULL,
	"origins" text[] NOT NULL,
	"funding_address" text,
	"rules" text NOT NULL,
	"quote_per_minute" integer,
	"other_per_minute" integer,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"revoked_at_ms" bigint,
	CONSTRAINT "api_keys_secret_hash_unique" UNIQUE("secret_hash"),
	CONSTRAINT "api_keys_check" CHECK (("api_keys"."previous_secret_hash" is null) = ("api_keys"."previous_until_ms" is null)),
	CONSTRAINT "api_keys_publishable_scopes" CHECK ("api_keys"."origins" = '{}' or "api_keys"."scopes" <@ '{quote,read}')
);

CREATE TABLE "api_usage" (
	"key_id" text NOT NULL,
	"minute_ms" bigint NOT NULL,
	"endpoint" text NOT NULL,
	"status" integer NOT NULL,
	"error_code" text NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "api_usage_key_id_minute_ms_endpoint_status_error_code_pk" PRIMARY KEY("key_id","minute_ms","endpoint","status","error_code")
);

CREATE TABLE "funding_challenges" (
	"key_id" text NOT NULL,
	"address" text NOT NULL,
	"nonce" text NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	CONSTRAINT "funding_challenges_key_id_address_pk" PRIMARY KEY("key_id","address")
);

CREATE TABLE "chain_blocks" (
	"chain_id" bigint NOT NULL,
	"number" bigint NOT NULL,
	"hash" text NOT NULL,
	"parent_hash" text NOT NULL,
	"timestamp" bigint NOT NULL,
	CONSTRAINT "chain_blocks_chain_id_number_pk" PRIMARY KEY("chain_id","number")
);

CREATE TABLE "chain_cursors" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"rechecked_block" bigint,
	"advances_to" text
);

CREATE TABLE "deposits" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "deposits_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" bigint NOT NULL,
	"tx_hash" text NOT NULL,
	"ordinal" integer NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"canonical" boolean NOT NULL,
	"confirm_at_block" bigint NOT NULL,
	"depositor" text NOT NULL,
	"sender" text NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"value_usd" numeric(78, 0) NOT NULL,
	"order_id" text,
	"request_id" text,
	"disposition" text NOT NULL,
	"reason" text,
	"refund_state" text DEFAULT 'none' NOT NULL,
	"refund_fail_reason" text,
	"seen_at_ms" bigint NOT NULL,
	"wallet_nonce" numeric(78, 0),
	"mapping_until_ms" bigint,
	"unrepaid_usd" numeric(78, 0),
	"unrepaid_at_ms" bigint,
	"unrepaid_reason" text,
	"refund_waits" text,
	"depository" text,
	"unattestable" boolean DEFAULT false NOT NULL,
	"refund_released_at_ms" bigint
);

CREATE TABLE "rail_cursors" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"cursor" text NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"block_seconds" bigint NOT NULL
);

CREATE TABLE "origin_transactions" (
	"request_id" text NOT NULL,
	"tx_hash" text NOT NULL,
	"reported_at_ms" bigint NOT NULL,
	CONSTRAINT "origin_transactions_request_id_tx_hash_pk" PRIMARY KEY("request_id","tx_hash")
);

CREATE TABLE "deposit_address_funds" (
	"address" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"currency" text NOT NULL,
	"observation" bigint DEFAULT nextval('deposit_address_observations') NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"seen_block" bigint NOT NULL,
	"unseen_block" bigint,
	"seen_at_ms" bigint NOT NULL,
	"held_reason" text,
	"layers" text,
	"alarmed_reason" text,
	"speaks" boolean DEFAULT true NOT NULL,
	CONSTRAINT "deposit_address_funds_address_chain_id_currency_pk" PRIMARY KEY("address","chain_id","currency")
);

CREATE TABLE "deposit_addresses" (
	"address" text PRIMARY KEY NOT NULL,
	"request_id" text NOT NULL,
	"order_id" text NOT NULL,
	"depositor" text NOT NULL,
	"recovery" text NOT NULL,
	"strict" boolean NOT NULL,
	"refund_to" text,
	"question" text NOT NULL,
	"key_id" text,
	"created_at_ms" bigint NOT NULL,
	"active_at_ms" bigint NOT NULL,
	"bound_to_order" boolean NOT NULL,
	"quoted_chain_id" bigint NOT NULL,
	"quoted_currency" text NOT NULL,
	CONSTRAINT "deposit_addresses_request_id_unique" UNIQUE("request_id")
);

CREATE TABLE "deposit_sweeps" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "deposit_sweeps_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"observation" bigint NOT NULL,
	"address" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"excess" numeric(78, 0) NOT NULL,
	"order_id" text NOT NULL,
	"request_id" text NOT NULL,
	"state" text DEFAULT 'planned' NOT NULL,
	"block_number" bigint,
	"tx_hash" text,
	"created_at_ms" bigint NOT NULL,
	"arrived_at_ms" bigint,
	"refused_since_ms" bigint,
	"layers" text,
	CONSTRAINT "deposit_sweeps_observation_unique" UNIQUE("observation")
);

CREATE TABLE "attempts" (
	"slot_id" bigint NOT NULL,
	"n" integer NOT NULL,
	"kind" text NOT NULL,
	"raw" text NOT NULL,
	"tx_hash" text NOT NULL,
	"max_fee_per_gas" numeric(78, 0) NOT NULL,
	"max_priority_fee_per_gas" numeric(78, 0) NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"broadcast_at_ms" bigint,
	"first_broadcast_at_ms" bigint,
	"offered_since_ms" bigint,
	CONSTRAINT "attempts_slot_id_n_pk" PRIMARY KEY("slot_id","n")
);

CREATE TABLE "fill_burns" (
	"slot_id" bigint PRIMARY KEY NOT NULL,
	"request_id" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"wei" numeric(78, 0) NOT NULL,
	"unpaid_wei" numeric(78, 0) NOT NULL,
	"at_ms" bigint NOT NULL,
	"usd" numeric(78, 0),
	"sponsor_wei" numeric(78, 0)
);

CREATE TABLE "lanes" (
	"chain_id" bigint NOT NULL,
	"sender" text NOT NULL,
	"next_nonce" bigint NOT NULL,
	"search_from" bigint,
	CONSTRAINT "lanes_chain_id_sender_pk" PRIMARY KEY("chain_id","sender")
);

CREATE TABLE "nonce_users" (
	"chain_id" bigint NOT NULL,
	"sender" text NOT NULL,
	"nonce" bigint NOT NULL,
	"tx_hash" text NOT NULL,
	"pays" text,
	"input_end" text,
	CONSTRAINT "nonce_users_chain_id_sender_nonce_pk" PRIMARY KEY("chain_id","sender","nonce")
);

CREATE TABLE "slots" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "slots_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" bigint NOT NULL,
	"sender" text NOT NULL,
	"nonce" bigint NOT NULL,
	"leg_kind" text NOT NULL,
	"leg_id" text NOT NULL,
	"request_id" text,
	"call_to" text NOT NULL,
	"call_data" text NOT NULL,
	"call_value" numeric(78, 0) NOT NULL,
	"gas_limit" bigint NOT NULL,
	"max_fee_per_gas" numeric(78, 0) NOT NULL,
	"max_priority_fee_per_gas" numeric(78, 0) NOT NULL,
	"outflow_currency" text NOT NULL,
	"outflow_amount" numeric(78, 0) NOT NULL,
	"delivered_amount" numeric(78, 0),
	"state" text NOT NULL,
	"cancel_reason" text,
	"cancel_after_ms" bigint NOT NULL,
	"mined_attempt" integer,
	"mined_block_number" bigint,
	"mined_block_hash" text,
	"mined_status" text,
	"mined_at_ms" bigint,
	"gas_used" numeric(78, 0),
	"effective_gas_price" numeric(78, 0),
	"unexplained_since" bigint,
	"dead_reason" text,
	"created_at_ms" bigint NOT NULL,
	"settlement_noted" boolean DEFAULT false NOT NULL,
	"call_authorizations" text,
	"unexplained_confirmed" boolean DEFAULT false NOT NULL,
	"uncovered_usd" numeric(78, 0),
	CONSTRAINT "slots_chain_id_sender_nonce_unique" UNIQUE("chain_id","sender","nonce")
);

CREATE TABLE "used_contracts" (
	"chain_id" bigint NOT NULL,
	"address" text NOT NULL,
	"role" text NOT NULL,
	"first_used_at_ms" bigint NOT NULL,
	CONSTRAINT "used_contracts_chain_id_address_role_pk" PRIMARY KEY("chain_id","address","role")
);

CREATE TABLE "send_reports" (
	"chain_id" bigint NOT NULL,
	"tx_hash" text NOT NULL,
	"request_id" text NOT NULL,
	"sender" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "send_reports_chain_id_tx_hash_request_id_pk" PRIMARY KEY("chain_id","tx_hash","request_id")
);

CREATE TABLE "sends" (
	"chain_id" bigint NOT NULL,
	"tx_hash" text NOT NULL,
	"request_id" text NOT NULL,
	"block_number" bigint,
	"block_hash" text,
	"settled" boolean DEFAULT false NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"sender" text NOT NULL,
	CONSTRAINT "sends_chain_id_tx_hash_pk" PRIMARY KEY("chain_id","tx_hash"),
	CONSTRAINT "sends_request_id_unique" UNIQUE("request_id")
);

CREATE TABLE "executions" (
	"request_id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"wallet" text,
	"question_hash" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"call_to" text NOT NULL,
	"call_data" text NOT NULL,
	"call_value" numeric(78, 0) NOT NULL,
	"call_authorizations" text,
	"gas_limit" bigint NOT NULL,
	"max_fee_per_gas" numeric(78, 0) NOT NULL,
	"coin_usd" numeric(78, 0) NOT NULL,
	"flat_usd" numeric(78, 0) NOT NULL,
	"destination" text,
	"user_address" text,
	"target" text NOT NULL,
	"day" integer NOT NULL,
	"cost_usd" numeric(78, 0) NOT NULL,
	"origin_usd" numeric(78, 0),
	"destination_usd" numeric(78, 0),
	"settled" boolean DEFAULT false NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"sale_price_usd" numeric(78, 0)
);

CREATE TABLE "fast_fills" (
	"request_id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"wallet" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"input_amount" numeric(78, 0) NOT NULL,
	"surplus_chain_id" bigint NOT NULL,
	"surplus_currency" text NOT NULL,
	"surplus_amount" numeric(78, 0) NOT NULL,
	"surplus_credited" boolean DEFAULT false NOT NULL,
	"surplus_moves" integer DEFAULT 0 NOT NULL,
	"accepted_at_ms" bigint NOT NULL,
	"origin_price_usd" numeric(78, 0) DEFAULT 0 NOT NULL,
	"destination_price_usd" numeric(78, 0) DEFAULT 0 NOT NULL,
	"native_price_usd" numeric(78, 0) DEFAULT 0 NOT NULL,
	"tolerance_bps" integer DEFAULT 0 NOT NULL,
	"deposit_until_ms" bigint,
	"spent_usd" numeric(78, 0) DEFAULT 0 NOT NULL,
	"debited_usd" numeric(78, 0) DEFAULT 0 NOT NULL,
	"burnt_usd" numeric(78, 0) DEFAULT 0 NOT NULL,
	"burnt_slot_id" bigint,
	"burnt_at_ms" bigint,
	"burnt_charged" boolean DEFAULT false NOT NULL,
	"cover_state" text DEFAULT 'none' NOT NULL,
	"tried_at_ms" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "fast_fills_amount_check" CHECK ("fast_fills"."amount" > 0),
	CONSTRAINT "fast_fills_cover_state_check" CHECK ("fast_fills"."cover_state" in ('none', 'due', 'booked')),
	CONSTRAINT "fast_fills_input_amount_check" CHECK ("fast_fills"."input_amount" > 0),
	CONSTRAINT "fast_fills_surplus_amount_check" CHECK ("fast_fills"."surplus_amount" >= 0)
);

CREATE TABLE "hub_attempts" (
	"transaction_id" bigint NOT NULL,
	"n" integer NOT NULL,
	"raw" text NOT NULL,
	"tx_hash" text NOT NULL,
	"max_fee_per_gas" numeric(78, 0) NOT NULL,
	"max_priority_fee_per_gas" numeric(78, 0) NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"broadcast_at_ms" bigint,
	"is_noop" boolean DEFAULT false NOT NULL,
	CONSTRAINT "hub_attempts_transaction_id_n_pk" PRIMARY KEY("transaction_id","n")
);

CREATE TABLE "hub_executions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "hub_executions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"idempotency_key" text NOT NULL,
	"kind" text NOT NULL,
	"actions" text[] NOT NULL,
	"signature" text NOT NULL,
	"state" text NOT NULL,
	"transaction_id" bigint,
	"reason" text,
	"next_try_ms" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"settled_at_ms" bigint,
	"apart" boolean DEFAULT false NOT NULL,
	"set_aside_since_ms" bigint,
	CONSTRAINT "hub_executions_idempotency_key_unique" UNIQUE("idempotency_key")
);

CREATE TABLE "hub_transactions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "hub_transactions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"sender" text NOT NULL,
	"nonce" bigint NOT NULL,
	"call_to" text NOT NULL,
	"call_data" text NOT NULL,
	"gas_limit" bigint NOT NULL,
	"max_fee_per_gas" numeric(78, 0) NOT NULL,
	"max_priority_fee_per_gas" numeric(78, 0) NOT NULL,
	"state" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"is_noop" boolean DEFAULT false NOT NULL,
	CONSTRAINT "hub_transactions_sender_nonce_unique" UNIQUE("sender","nonce")
);

CREATE TABLE "hub_withdrawals" (
	"withdrawal_address" text PRIMARY KEY NOT NULL,
	"chain_name" text NOT NULL,
	"depository" text NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric(78, 0) NOT NULL,
	"recipient" text NOT NULL,
	"nonce" text NOT NULL,
	"payload" text,
	"outcome" text,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL
);

CREATE TABLE "settlements" (
	"slot_id" bigint PRIMARY KEY NOT NULL,
	"request_id" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"rejected" boolean DEFAULT false NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_ms" bigint NOT NULL,
	"deposit_key" text,
	"payment_key" text,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL
);

CREATE TABLE "nonce_mappings" (
	"key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "nonce_mappings_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" bigint NOT NULL,
	"wallet" text NOT NULL,
	"nonce" numeric(78, 0) NOT NULL,
	"mapped_id" text NOT NULL,
	"depositor" text NOT NULL,
	"request_id" text,
	"signature" text NOT NULL,
	"signature_chain_id" bigint NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_ms" bigint NOT NULL,
	"hub_signature" text,
	"transaction_id" bigint,
	"hub_mapped_id" text,
	"hub_depositor" text,
	"hub_set_at" bigint,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	CONSTRAINT "nonce_mappings_chain_id_wallet_nonce_unique" UNIQUE("chain_id","wallet","nonce")
);

CREATE TABLE "webhook_attempts" (
	"delivery_id" bigint NOT NULL,
	"n" integer NOT NULL,
	"at_ms" bigint NOT NULL,
	"took_ms" bigint NOT NULL,
	"status" integer,
	"error" text,
	"response" text,
	CONSTRAINT "webhook_attempts_delivery_id_n_pk" PRIMARY KEY("delivery_id","n")
);

CREATE TABLE "webhook_deliveries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_deliveries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"endpoint_id" text NOT NULL,
	"request_id" text NOT NULL,
	"seq" integer NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at_ms" bigint NOT NULL,
	"lease_token" text,
	"lease_until_ms" bigint DEFAULT 0 NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	CONSTRAINT "webhook_deliveries_endpoint_id_request_id_seq_unique" UNIQUE("endpoint_id","request_id","seq")
);

CREATE TABLE "webhook_endpoints" (
	"id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"url" text NOT NULL,
	"label" text NOT NULL,
	"headers" text NOT NULL,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_until_ms" bigint,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"deleted_at_ms" bigint,
	"failing_since_ms" bigint,
	"last_error" text,
	"last_delivered_at_ms" bigint,
	CONSTRAINT "webhook_endpoints_check" CHECK (("webhook_endpoints"."previous_secret" is null) = ("webhook_endpoints"."previous_until_ms" is null))
);

CREATE TABLE "archive_requests" (
	"request_id" text PRIMARY KEY NOT NULL
);

CREATE TABLE "archives" (
	"month" text NOT NULL,
	"part" integer NOT NULL,
	"state" text NOT NULL,
	"payments_before_ms" bigint NOT NULL,
	"folder" text,
	"manifest_sha256" text,
	"tables" text,
	"started_at_ms" bigint NOT NULL,
	"finished_at_ms" bigint,
	CONSTRAINT "archives_month_part_pk" PRIMARY KEY("month","part")
);

ALTER TABLE "fee_reservation_parts" ADD CONSTRAINT "fee_reservation_parts_reservation_id_fee_reservations_id_fk" FOREIGN KEY ("reservation_id") REFERENCES "public"."fee_reservations"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "fee_reservations" ADD CONSTRAINT "fee_reservations_wallet_app_wallets_wallet_fk" FOREIGN KEY ("wallet") REFERENCES "public"."app_wallets"("wallet") ON DELETE no action ON UPDATE no action;
ALTER TABLE "holds" ADD CONSTRAINT "holds_wallet_app_wallets_wallet_fk" FOREIGN KEY ("wallet") REFERENCES "public"."app_wallets"("wallet") ON DELETE no action ON UPDATE no action;
ALTER TABLE "ledger_accounts" ADD CONSTRAINT "ledger_accounts_wallet_app_wallets_wallet_fk" FOREIGN KEY ("wallet") REFERENCES "public"."app_wallets"("wallet") ON DELETE no action ON UPDATE no action;
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_movement_id_ledger_movements_id_fk" FOREIGN KEY ("movement_id") REFERENCES "public"."ledger_movements"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_wallet_app_wallets_wallet_fk" FOREIGN KEY ("wallet") REFERENCES "public"."app_wallets"("wallet") ON DELETE no action ON UPDATE no action;
ALTER TABLE "ledger_movements" ADD CONSTRAINT "ledger_movements_wallet_app_wallets_wallet_fk" FOREIGN KEY ("wallet") REFERENCES "public"."app_wallets"("wallet") ON DELETE no action ON UPDATE no action;
ALTER TABLE "request_history" ADD CONSTRAINT "request_history_request_id_requests_request_id_fk" FOREIGN KEY ("request_id") REFERENCES "public"."requests"("request_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "request_transactions" ADD CONSTRAINT "request_transactions_request_id_requests_request_id_fk" FOREIGN KEY ("request_id") REFERENCES "public"."requests"("request_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "funding_challenges" ADD CONSTRAINT "funding_challenges_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "origin_transactions" ADD CONSTRAINT "origin_transactions_request_id_requests_request_id_fk" FOREIGN KEY ("request_id") REFERENCES "public"."requests"("request_id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "deposit_address_funds" ADD CONSTRAINT "deposit_address_funds_address_deposit_addresses_address_fk" FOREIGN KEY ("address") REFERENCES "public"."deposit_addresses"("address") ON DELETE no action ON UPDATE no action;
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_slot_id_slots_id_fk" FOREIGN KEY ("slot_id") REFERENCES "public"."slots"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "hub_attempts" ADD CONSTRAINT "hub_attempts_transaction_id_hub_transactions_id_fk" FOREIGN KEY ("transaction_id") REFERENCES "public"."hub_transactions"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "hub_executions" ADD CONSTRAINT "hub_executions_transaction_id_hub_transactions_id_fk" FOREIGN KEY ("transaction_id") REFERENCES "public"."hub_transactions"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "settlements" ADD CONSTRAINT "settlements_slot_id_slots_id_fk" FOREIGN KEY ("slot_id") REFERENCES "public"."slots"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "nonce_mappings" ADD CONSTRAINT "nonce_mappings_transaction_id_hub_transactions_id_fk" FOREIGN KEY ("transaction_id") REFERENCES "public"."hub_transactions"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_webhook_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "job_runs_lost" ON "job_runs" USING btree ("lost_after_ms");
CREATE UNIQUE INDEX "outbox_open_job" ON "outbox" USING btree ("job_id") WHERE "outbox"."published_at_ms" is null;
CREATE INDEX "outbox_published" ON "outbox" USING btree ("published_at_ms") WHERE "outbox"."published_at_ms" is not null;
CREATE INDEX "outbox_unpublished" ON "outbox" USING btree ("id") WHERE "outbox"."published_at_ms" is null;
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at_ms");
CREATE INDEX "fee_reservations_budget" ON "fee_reservations" USING btree ("key_id","day") WHERE "fee_reservations"."key_id" is not null;
CREATE UNIQUE INDEX "fee_reservations_identity" ON "fee_reservations" USING btree ("request_id","purpose","round");
CREATE INDEX "fee_reservations_open" ON "fee_reservations" USING btree ("wallet") WHERE "fee_reservations"."state" = 'open';
CREATE INDEX "holds_active_key" ON "holds" USING btree ("key_id") WHERE "holds"."state" = 'active';
CREATE INDEX "holds_active_wallet" ON "holds" USING btree ("wallet") WHERE "holds"."state" = 'active';
CREATE INDEX "holds_wallet" ON "holds" USING btree ("wallet","placed_at_ms","request_id");
CREATE INDEX "ledger_entries_house" ON "ledger_entries" USING btree ("account","chain_id","currency") WHERE "ledger_entries"."wallet" is null;
CREATE UNIQUE INDEX "ledger_entries_run" ON "ledger_entries" USING btree ("wallet","account","chain_id","currency","seq") WHERE "ledger_entries"."wallet" is not null;
CREATE INDEX "ledger_entries_wallet" ON "ledger_entries" USING btree ("wallet","id") WHERE "ledger_entries"."wallet" is not null;
CREATE INDEX "ledger_movements_request" ON "ledger_movements" USING btree ("request_id") WHERE "ledger_movements"."request_id" is not null;
CREATE INDEX "app_top_ups_due" ON "app_top_ups" USING btree ("chain_id","confirm_at_block") WHERE "app_top_ups"."state" = 'seen' and "app_top_ups"."canonical";
CREATE UNIQUE INDEX "app_top_ups_identity" ON "app_top_ups" USING btree ("chain_id","tx_hash","currency","amount","sender",coalesce("wallet", ''),"ordinal");
CREATE INDEX "app_top_ups_recent" ON "app_top_ups" USING btree ("chain_id","block_number");
CREATE INDEX "claims_offered" ON "claims" USING btree ("expires_at") WHERE "claims"."state" = 'offered';
CREATE INDEX "claims_paying" ON "claims" USING btree ("updated_at_ms") WHERE "claims"."state" = 'paying';
CREATE INDEX "claims_wallet" ON "claims" USING btree ("wallet","created_at_ms","claim_id") WHERE "claims"."state" <> 'offered';
CREATE INDEX "request_events_request" ON "request_events" USING btree ("request_id","id");
CREATE INDEX "requests_deposit_address" ON "requests" USING btree ("deposit_address") WHERE "requests"."deposit_address" is not null;
CREATE INDEX "requests_fronted" ON "requests" USING btree ("fill_deadline_ms") WHERE "requests"."front" = 'held';
CREATE INDEX "requests_fronted_deposit" ON "requests" USING btree ("origin_chain_id") WHERE "requests"."front" in ('held', 'debited') and "requests"."deposit_id" is not null;
CREATE UNIQUE INDEX "requests_order_id" ON "requests" USING btree ("order_id");
CREATE INDEX "requests_prunable" ON "requests" USING btree ("fill_deadline_ms") WHERE "requests"."state" = 'expired' and not "requests"."kept";
CREATE INDEX "requests_prunable_large" ON "requests" USING btree (greatest("fill_deadline_ms", "state_since_ms")) WHERE "requests"."state" = 'expired' and not "requests"."kept" and "requests"."deposit_address" is null and octet_length("requests"."terms") > 4096;
CREATE INDEX "requests_to_fill" ON "requests" USING btree (coalesce("state_since_ms", "updated_at_ms")) WHERE "requests"."state" in ('fillable', 'filling');
CREATE INDEX "requests_under_way" ON "requests" USING btree ("updated_at_ms") WHERE "requests"."state" in ('deposited', 'fillable', 'filling', 'submitted', 'refunding');
CREATE INDEX "requests_waiting_origin" ON "requests" USING btree ("origin_chain_id","fill_deadline_ms") WHERE "requests"."state" in ('quoted', 'depositing') and "requests"."superseded_by" is null and not "requests"."funds_seen";
CREATE INDEX "requests_with_address_funds" ON "requests" USING btree ("deposit_address") WHERE "requests"."funds_seen" or "requests"."funds_held";
CREATE INDEX "status_events_age" ON "status_events" USING btree ("at_ms");
CREATE INDEX "request_history_amount" ON "request_history" USING btree ("amount_usd","n","created_at_ms");
CREATE INDEX "request_history_app_fees" ON "request_history" USING btree ("app_fees_usd","created_at_ms","n") WHERE "request_history"."app_fees_usd" > 0;
CREATE INDEX "request_history_block" ON "request_history" USING btree ("in_block","created_at_ms","n");
CREATE INDEX "request_history_calls" ON "request_history" USING btree ("created_at_ms","n") WHERE "request_history"."features" @> '{calls}';
CREATE INDEX "request_history_chain_block" ON "request_history" USING btree ("origin_chain_id","in_block","in_seen_at_ms");
CREATE INDEX "request_history_created" ON "request_history" USING btree ("created_at_ms","n");
CREATE INDEX "request_history_currency_in" ON "request_history" USING btree ("currency_in","created_at_ms","n");
CREATE INDEX "request_history_currency_out" ON "request_history" USING btree ("currency_out","created_at_ms","n");
CREATE INDEX "request_history_deposit_address" ON "request_history" USING btree ("deposit_address","created_at_ms","n") WHERE "request_history"."deposit_address" is not null;
CREATE INDEX "request_history_destination" ON "request_history" USING btree ("destination_chain_id","created_at_ms","n");
CREATE INDEX "request_history_destination_swap" ON "request_history" USING btree ("created_at_ms","n") WHERE "request_history"."features" @> '{destination-swap}';
CREATE INDEX "request_history_execution" ON "request_history" USING btree ("created_at_ms","n") WHERE "request_history"."features" @> '{execution}';
CREATE INDEX "request_history_fail" ON "request_history" USING btree ("fail_reason","created_at_ms","n") WHERE "request_history"."fail_reason" is not null;
CREATE INDEX "request_history_fast_fill" ON "request_history" USING btree ("created_at_ms","n") WHERE "request_history"."features" @> '{fast-fill}';
CREATE INDEX "request_history_fill_time" ON "request_history" USING btree ("fill_ms","created_at_ms","n") WHERE "request_history"."fill_ms" is not null;
CREATE INDEX "request_history_key" ON "request_history" USING btree ("key_id","created_at_ms","n") WHERE "request_history"."key_id" is not null;
CREATE INDEX "request_history_origin" ON "request_history" USING btree ("origin_chain_id","created_at_ms","n");
CREATE INDEX "request_history_origin_swap" ON "request_history" USING btree ("created_at_ms","n") WHERE "request_history"."features" @> '{origin-swap}';
CREATE INDEX "request_history_recipient" ON "request_history" USING btree ("recipient","created_at_ms","n");
CREATE INDEX "request_history_refund_fail" ON "request_history" USING btree ("refund_fail_reason","created_at_ms","n") WHERE "request_history"."refund_fail_reason" is not null;
CREATE UNIQUE INDEX "request_history_request" ON "request_history" USING btree ("request_id");
CREATE INDEX "request_history_status" ON "request_history" USING btree ("status","created_at_ms","n");
CREATE INDEX "request_history_symbol_in" ON "request_history" USING btree ("symbol_in","created_at_ms","n");
CREATE INDEX "request_history_symbol_out" ON "request_history" USING btree ("symbol_out","created_at_ms","n");
CREATE INDEX "request_history_type" ON "request_history" USING btree ("request_type","created_at_ms","n");
CREATE INDEX "request_history_updated" ON "request_history" USING btree ("updated_at_ms","n");
CREATE INDEX "request_history_user" ON "request_history" USING btree ("user_address","created_at_ms","n");
CREATE INDEX "request_transactions_request" ON "request_transactions" USING btree ("request_id");
CREATE INDEX "api_usage_age" ON "api_usage" USING btree ("minute_ms");
CREATE INDEX "api_usage_hours" ON "api_usage" USING btree ("minute_ms") WHERE ("api_usage"."minute_ms" % 86400000) <> 0;
CREATE INDEX "api_usage_minutes" ON "api_usage" USING btree ("minute_ms") WHERE ("api_usage"."minute_ms" % 3600000) <> 0;
CREATE UNIQUE INDEX "deposits_by_nonce" ON "deposits" USING btree ("chain_id","tx_hash","sender","wallet_nonce","ordinal") WHERE "deposits"."wallet_nonce" is not null;
CREATE UNIQUE INDEX "deposits_identity" ON "deposits" USING btree ("chain_id","tx_hash","currency","amount","depositor","sender",coalesce("order_id", ''),"ordinal");
CREATE INDEX "deposits_recent" ON "deposits" USING btree ("chain_id","block_number");
CREATE INDEX "deposits_refund_due" ON "deposits" USING btree ("id") WHERE "deposits"."disposition" = 'refund' and "deposits"."refund_state" = 'none';
CREATE INDEX "deposits_refund_waits" ON "deposits" USING btree ("id") WHERE "deposits"."refund_waits" is not null;
CREATE INDEX "deposits_request" ON "deposits" USING btree ("request_id") WHERE "deposits"."request_id" is not null;
CREATE INDEX "deposits_unasked" ON "deposits" USING btree ("chain_id","tx_hash") WHERE "deposits"."request_id" is null;
CREATE INDEX "deposits_unattributed" ON "deposits" USING btree ("id") WHERE "deposits"."disposition" = 'unattributed';
CREATE INDEX "deposits_unattributed_due" ON "deposits" USING btree ("chain_id","seen_at_ms") WHERE "deposits"."disposition" = 'unattributed' and "deposits"."request_id" is null and "deposits"."canonical" and "deposits"."refund_state" = 'none';
CREATE INDEX "deposits_unattributed_refunds" ON "deposits" USING btree ("chain_id","depositor","currency") WHERE "deposits"."request_id" is null and not "deposits"."canonical" and "deposits"."refund_state" in ('sent', 'final');
CREATE INDEX "deposits_unmapped" ON "deposits" USING btree ("chain_id","id") WHERE "deposits"."mapping_until_ms" is not null;
CREATE INDEX "deposits_unrepaid" ON "deposits" USING btree ("unrepaid_at_ms") WHERE "deposits"."unrepaid_at_ms" is not null;
CREATE INDEX "deposit_address_funds_age" ON "deposit_address_funds" USING btree ("seen_at_ms");
CREATE INDEX "deposit_addresses_active" ON "deposit_addresses" USING btree ("active_at_ms" DESC NULLS FIRST);
CREATE INDEX "deposit_sweeps_address" ON "deposit_sweeps" USING btree ("address","id");
CREATE INDEX "deposit_sweeps_open" ON "deposit_sweeps" USING btree ("chain_id","address") WHERE "deposit_sweeps"."state" in ('planned', 'sent', 'mined');
CREATE INDEX "deposit_sweeps_planned" ON "deposit_sweeps" USING btree ("created_at_ms") WHERE "deposit_sweeps"."state" = 'planned';
CREATE INDEX "deposit_sweeps_request" ON "deposit_sweeps" USING btree ("request_id");
CREATE UNIQUE INDEX "attempts_tx_hash" ON "attempts" USING btree ("tx_hash");
CREATE INDEX "fill_burns_request" ON "fill_burns" USING btree ("request_id");
CREATE INDEX "fill_burns_unpaid" ON "fill_burns" USING btree ("at_ms") WHERE "fill_burns"."unpaid_wei" > 0;
CREATE INDEX "nonce_users_pays" ON "nonce_users" USING btree ("pays","chain_id") WHERE "nonce_users"."pays" is not null;
CREATE UNIQUE INDEX "slots_one_live_per_leg" ON "slots" USING btree ("leg_kind","leg_id") WHERE "slots"."state" <> 'dead';
CREATE INDEX "slots_request" ON "slots" USING btree ("request_id") WHERE "slots"."request_id" is not null;
CREATE INDEX "slots_settlement_due" ON "slots" USING btree ("id") WHERE "slots"."state" = 'final' and not "slots"."settlement_noted";
CREATE INDEX "slots_uncovered" ON "slots" USING btree ("id") WHERE "slots"."uncovered_usd" > 0 and "slots"."state" in ('open', 'mined');
CREATE INDEX "slots_unsettled" ON "slots" USING btree ("chain_id","sender","nonce") WHERE "slots"."state" in ('open', 'mined');
CREATE INDEX "send_reports_age" ON "send_reports" USING btree ("chain_id","created_at_ms","tx_hash","request_id");
CREATE INDEX "send_reports_request" ON "send_reports" USING btree ("request_id");
CREATE INDEX "send_reports_sender" ON "send_reports" USING btree ("chain_id","sender");
CREATE INDEX "sends_unsettled_block" ON "sends" USING btree ("chain_id","block_number","tx_hash") WHERE not "sends"."settled";
CREATE INDEX "executions_budget" ON "executions" USING btree ("key_id","day");
CREATE INDEX "executions_unsettled" ON "executions" USING btree ("created_at_ms") WHERE not "executions"."settled";
CREATE INDEX "fast_fills_burnt" ON "fast_fills" USING btree ("wallet","burnt_at_ms") WHERE "fast_fills"."burnt_usd" > 0;
CREATE INDEX "fast_fills_due" ON "fast_fills" USING btree ("accepted_at_ms") WHERE ("fast_fills"."cover_state" = 'due') or (("fast_fills"."burnt_usd" > 0) and (not "fast_fills"."burnt_charged"));
CREATE INDEX "hub_executions_due" ON "hub_executions" USING btree ("id") WHERE "hub_executions"."state" = 'attested' and "hub_executions"."transaction_id" is null;
CREATE INDEX "hub_executions_transaction" ON "hub_executions" USING btree ("transaction_id") WHERE "hub_executions"."state" = 'attested';
CREATE INDEX "hub_transactions_open" ON "hub_transactions" USING btree ("nonce") WHERE "hub_transactions"."state" = 'open';
CREATE UNIQUE INDEX "hub_withdrawals_nonce" ON "hub_withdrawals" USING btree ("nonce");
CREATE INDEX "settlements_attested" ON "settlements" USING btree ("slot_id") WHERE "settlements"."state" = 'attested';
CREATE INDEX "settlements_due" ON "settlements" USING btree ("next_try_ms") WHERE "settlements"."state" = 'due';
CREATE INDEX "settlements_request" ON "settlements" USING btree ("request_id");
CREATE INDEX "nonce_mappings_carried" ON "nonce_mappings" USING btree ("key") WHERE "nonce_mappings"."state" = 'signed' and "nonce_mappings"."transaction_id" is not null;
CREATE INDEX "nonce_mappings_due" ON "nonce_mappings" USING btree ("next_try_ms") WHERE "nonce_mappings"."state" in ('stored', 'signed') and "nonce_mappings"."transaction_id" is null;
CREATE INDEX "nonce_mappings_request" ON "nonce_mappings" USING btree ("request_id") WHERE "nonce_mappings"."request_id" is not null;
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("endpoint_id","next_at_ms") WHERE "webhook_deliveries"."state" = 'waiting';
CREATE INDEX "webhook_deliveries_ended" ON "webhook_deliveries" USING btree ("ended_at_ms") WHERE "webhook_deliveries"."ended_at_ms" is not null;
CREATE INDEX "webhook_deliveries_leased" ON "webhook_deliveries" USING btree ("lease_until_ms") WHERE "webhook_deliveries"."state" = 'waiting' and "webhook_deliveries"."lease_until_ms" > 0;
CREATE INDEX "webhook_deliveries_newest" ON "webhook_deliveries" USING btree ("endpoint_id","id" DESC NULLS FIRST);
CREATE INDEX "webhook_deliveries_waiting" ON "webhook_deliveries" USING btree ("endpoint_id","request_id","seq") WHERE "webhook_deliveries"."state" = 'waiting';
CREATE INDEX "webhook_endpoints_failing" ON "webhook_endpoints" USING btree ("id") WHERE "webhook_endpoints"."failing_since_ms" is not null and "webhook_endpoints"."deleted_at_ms" is null;
CREATE INDEX "webhook_endpoints_key" ON "webhook_endpoints" USING btree ("key_id") WHERE "webhook_endpoints"."deleted_at_ms" is null;
CREATE INDEX "webhook_endpoints_made" ON "webhook_endpoints" USING btree ("key_id","created_at_ms");
CREATE INDEX "webhook_endpoints_removed" ON "webhook_endpoints" USING btree ("deleted_at_ms") WHERE "webhook_endpoints"."deleted_at_ms" is not null;
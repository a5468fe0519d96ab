ALTER TABLE "logs" ADD COLUMN "code" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "params" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "upstream_cost" bigint;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "price_rule" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "plan_quota" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "refund_of" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "repeated" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "repeated_until" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "logs" ADD COLUMN "tags" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "logs_refund_ix" ON "logs" USING btree ("refund_of") WHERE refund_of <> '';--> statement-breakpoint
UPDATE "logs" SET "refund_of" = substring("other" from '"refund_of":"([^"]+)"')
WHERE "type" = 6 AND "type" <> 2 AND "other" ~ '"refund_of":"[^"]+"';--> statement-breakpoint
UPDATE "logs" SET "repeated" = substring("other" from '"repeated":([0-9]{1,15})')::bigint,
  "repeated_until" = coalesce(substring("other" from '"repeated_until":([0-9]{1,15})')::bigint, 0)
WHERE "type" = 5 AND "type" <> 2 AND "other" ~ '"repeated":[0-9]{1,15}';
--> statement-breakpoint
-- An hour could be added up without a call that was being counted: all are added up again.
UPDATE "meta" SET "value" = '0' WHERE "name" = 'usage_summed_until';

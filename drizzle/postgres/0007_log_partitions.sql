-- The log in partitions (docs/decisions/0059-log-partitions.md). Nothing is copied and nothing is scanned here: today's
-- table becomes the default partition of a new one with its name. What comes after is done while nodes run
-- (features/log/partitions.ts).
-- Locks the log for a moment. Who waits for a long reading makes everyone wait behind them, so this gives up and is
-- started again (db/migrate.ts).
SET LOCAL lock_timeout = '2s';
--> statement-breakpoint
LOCK TABLE "logs" IN ACCESS EXCLUSIVE MODE;
--> statement-breakpoint
-- Partitions share one sequence: a plain one, because before Postgres 17 a partition has no identity of its own. It goes
-- on where the identity was.
DO $$
DECLARE
  last bigint;
BEGIN
  SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO last FROM logs_id_seq;
  ALTER TABLE logs ALTER COLUMN id DROP IDENTITY;
  CREATE SEQUENCE logs_id_seq AS bigint;
  PERFORM setval('logs_id_seq', greatest(last, 1), last > 0);
END
$$;
--> statement-breakpoint
ALTER TABLE "logs" ALTER COLUMN "id" SET DEFAULT nextval('logs_id_seq');
--> statement-breakpoint
-- logs_user_ix is logs_before_user_ix from now on, and so on.
DO $$
DECLARE
  old name;
BEGIN
  FOR old IN SELECT indexname FROM pg_indexes WHERE schemaname = current_schema AND tablename = 'logs' LOOP
    EXECUTE format('ALTER INDEX %I RENAME TO %I', old, replace(old, 'logs_', 'logs_before_'));
  END LOOP;
END
$$;
--> statement-breakpoint
ALTER TABLE "logs" RENAME TO "logs_before";
--> statement-breakpoint
CREATE TABLE "logs" (LIKE "logs_before" INCLUDING DEFAULTS) PARTITION BY RANGE ("request_id");
--> statement-breakpoint
ALTER SEQUENCE "logs_id_seq" OWNED BY "logs"."id";
--> statement-breakpoint
CREATE UNIQUE INDEX "logs_request_uq" ON "logs" USING btree ("request_id");
--> statement-breakpoint
CREATE INDEX "logs_created_ix" ON "logs" USING btree ("created_at","id");
--> statement-breakpoint
CREATE INDEX "logs_user_ix" ON "logs" USING btree ("user_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "logs_channel_ix" ON "logs" USING btree ("channel","created_at");
--> statement-breakpoint
CREATE INDEX "logs_model_ix" ON "logs" USING btree ("model_name","created_at");
--> statement-breakpoint
CREATE INDEX "logs_token_ix" ON "logs" USING btree ("token_id","created_at");
--> statement-breakpoint
CREATE INDEX "logs_upstream_ix" ON "logs" USING btree ("upstream_request_id") WHERE upstream_request_id <> '';
--> statement-breakpoint
CREATE INDEX "logs_type_ix" ON "logs" USING btree ("type","created_at","id") WHERE type <> 2;
--> statement-breakpoint
CREATE INDEX "logs_group_ix" ON "logs" USING btree ("group","created_at");
--> statement-breakpoint
CREATE INDEX "logs_apart_ix" ON "logs" USING btree ("created_at") WHERE folded = 2 or not visible;
--> statement-breakpoint
CREATE INDEX "logs_refund_ix" ON "logs" USING btree ("refund_of") WHERE refund_of <> '';
--> statement-breakpoint
CREATE INDEX "logs_unfolded_ix" ON "logs" USING btree ("id") WHERE folded = 0;
--> statement-breakpoint
ALTER TABLE "logs" ATTACH PARTITION "logs_before" DEFAULT;
--> statement-breakpoint
-- Rows whose time is more than a day away from that of their id, such as the refund of an old call: a reading by time
-- looks for these besides the partitions of its range.
CREATE TABLE "log_late" (
	"request_id" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "log_late_created_ix" ON "log_late" USING btree ("created_at");
--> statement-breakpoint
-- No key and no conflict: nobody waits for another here.
CREATE FUNCTION "log_late_1"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log_late (request_id, created_at) VALUES (NEW.request_id, NEW.created_at);
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Ids from '3' on are not ours and have no time.
CREATE TRIGGER "log_late" AFTER INSERT ON "logs" FOR EACH ROW WHEN (
  CASE WHEN NEW.request_id < '3' AND NEW.created_at BETWEEN 0 AND 253000000000 THEN
    NEW.request_id < to_char(to_timestamp(NEW.created_at - 86400) AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISS')
    OR NEW.request_id >= to_char(to_timestamp(NEW.created_at + 86400) AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISS')
  END
) EXECUTE FUNCTION "log_late_1"();

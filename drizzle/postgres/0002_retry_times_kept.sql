-- RetryTimes is 3 by default from this release on. An installation that has users and never set it keeps what it had: 0.
INSERT INTO "options" ("key", "value", "updated_at")
SELECT 'RetryTimes', '0', extract(epoch FROM now())::bigint WHERE EXISTS (SELECT 1 FROM "users") ON CONFLICT DO NOTHING;

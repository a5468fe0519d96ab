CREATE TABLE `failed_attempts` (
	`hour` integer NOT NULL,
	`channel` integer NOT NULL,
	`model_name` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`hour`, `channel`, `model_name`)
);--> statement-breakpoint
-- Health shows the last day. What failed in it before this release is known by the rows of failed calls; attempts of
-- calls that another channel served were not counted.
INSERT INTO failed_attempts ("hour", channel, model_name, "count")
SELECT created_at - created_at % 3600, channel, model_name, count(*) FROM logs
WHERE "type" = 5 AND created_at >= unixepoch() - 90000 AND channel <> 0 AND folded = 1 AND end_reason <> 'caller_left'
	AND code NOT IN ('failure.caller_mistake', 'failure.context_too_long', 'failure.too_large', 'failure.over_account_rate', 'failure.content_filtered', 'failure.unaffordable')
GROUP BY 1, 2, 3;

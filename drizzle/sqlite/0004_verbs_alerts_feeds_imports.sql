CREATE TABLE `alert_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`incident_id` integer NOT NULL,
	`kind` text NOT NULL,
	`target` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer NOT NULL,
	`sent_at` integer DEFAULT 0 NOT NULL,
	`error` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_deliveries_uq` ON `alert_deliveries` (`incident_id`,`kind`,`target`);--> statement-breakpoint
CREATE INDEX `alert_deliveries_next_ix` ON `alert_deliveries` (`next_at`) WHERE next_at <> 0;--> statement-breakpoint
CREATE INDEX `alert_deliveries_created_ix` ON `alert_deliveries` (`created_at`);--> statement-breakpoint
CREATE TABLE `answered_requests` (
	`name` text PRIMARY KEY NOT NULL,
	`input_hash` text NOT NULL,
	`answer` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `answered_requests_created_ix` ON `answered_requests` (`created_at`);--> statement-breakpoint
CREATE TABLE `imported_rows` (
	`source` text NOT NULL,
	`kind` text NOT NULL,
	`source_id` text NOT NULL,
	`target_id` text NOT NULL,
	`row_hash` text DEFAULT '' NOT NULL,
	PRIMARY KEY(`source`, `kind`, `source_id`)
);
--> statement-breakpoint
CREATE TABLE `imports` (
	`source` text PRIMARY KEY NOT NULL,
	`system` text NOT NULL,
	`cursor` text DEFAULT '' NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `incidents` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`rule` text NOT NULL,
	`subject` text DEFAULT '' NOT NULL,
	`severity` text DEFAULT 'warning' NOT NULL,
	`code` text NOT NULL,
	`params` text DEFAULT '' NOT NULL,
	`opened_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`closed_at` integer DEFAULT 0 NOT NULL,
	`count` integer DEFAULT 1 NOT NULL,
	`muted_until` integer DEFAULT 0 NOT NULL,
	`seen_by` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `incidents_open_uq` ON `incidents` (`rule`,`subject`) WHERE closed_at = 0;--> statement-breakpoint
CREATE INDEX `incidents_last_ix` ON `incidents` (`last_at`,`id`);--> statement-breakpoint
CREATE TABLE `price_proposals` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`source` text NOT NULL,
	`created_at` integer NOT NULL,
	`status` text DEFAULT 'open' NOT NULL,
	`changes` text NOT NULL,
	`decided_at` integer DEFAULT 0 NOT NULL,
	`actor_id` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `price_proposals_status_ix` ON `price_proposals` (`status`,`id`);--> statement-breakpoint
CREATE TABLE `reports` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`title` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`actor_id` integer DEFAULT 0 NOT NULL,
	`data` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `reports_kind_ix` ON `reports` (`kind`,`id`);--> statement-breakpoint
ALTER TABLE `channel_keys` ADD `draining_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `channel_keys` ADD `drain_deadline` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `channels` ADD `draining_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `channels` ADD `drain_deadline` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `instances` ADD `draining_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `instances` ADD `drain_deadline` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `instances` ADD `running` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `tokens` ADD `imported_hash` text;--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_imported_uq` ON `tokens` (`imported_hash`) WHERE imported_hash is not null;--> statement-breakpoint
ALTER TABLE `usage_hourly` ADD `upstream_cost` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_hourly` ADD `costed_quota` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_hourly` ADD `first_token_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_hourly` ADD `first_tokens` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_sums` ADD `upstream_cost` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_sums` ADD `costed_quota` integer DEFAULT 0 NOT NULL;
CREATE TABLE `channels` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`type` integer NOT NULL,
	`name` text NOT NULL,
	`key_cipher` text DEFAULT '' NOT NULL,
	`key_hash` text DEFAULT '' NOT NULL,
	`base_url` text DEFAULT '' NOT NULL,
	`other` text DEFAULT '' NOT NULL,
	`models` text DEFAULT '' NOT NULL,
	`group` text DEFAULT 'default' NOT NULL,
	`model_mapping` text DEFAULT '' NOT NULL,
	`status_code_mapping` text DEFAULT '' NOT NULL,
	`setting` text DEFAULT '' NOT NULL,
	`param_override` text DEFAULT '' NOT NULL,
	`header_override` text DEFAULT '' NOT NULL,
	`test_model` text DEFAULT '' NOT NULL,
	`auto_ban` integer DEFAULT 1 NOT NULL,
	`tag` text DEFAULT '' NOT NULL,
	`priority` integer DEFAULT 0 NOT NULL,
	`weight` integer DEFAULT 0 NOT NULL,
	`openai_organization` text DEFAULT '' NOT NULL,
	`max_input_tokens` integer DEFAULT 0 NOT NULL,
	`status` integer DEFAULT 1 NOT NULL,
	`response_time` integer DEFAULT 0 NOT NULL,
	`used_quota` integer DEFAULT 0 NOT NULL,
	`balance` real DEFAULT 0 NOT NULL,
	`balance_updated_time` integer DEFAULT 0 NOT NULL,
	`test_time` integer DEFAULT 0 NOT NULL,
	`created_time` integer NOT NULL,
	`other_info` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `channels_priority_ix` ON `channels` (`priority`,`id`);--> statement-breakpoint
CREATE INDEX `channels_key_ix` ON `channels` (`key_hash`);--> statement-breakpoint
CREATE INDEX `channels_tag_ix` ON `channels` (`tag`);--> statement-breakpoint
CREATE TABLE `credits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`amount` integer NOT NULL,
	`kind` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`note` text DEFAULT '' NOT NULL,
	`actor_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `credits_key_uq` ON `credits` (`idempotency_key`);--> statement-breakpoint
CREATE INDEX `credits_user_ix` ON `credits` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `holds` (
	`request_id` text PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`token_id` integer DEFAULT 0 NOT NULL,
	`amount` integer NOT NULL,
	`token_amount` integer NOT NULL,
	`running` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`instance_id` text NOT NULL,
	`draft` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `holds_instance_ix` ON `holds` (`instance_id`);--> statement-breakpoint
CREATE INDEX `holds_user_ix` ON `holds` (`user_id`);--> statement-breakpoint
CREATE TABLE `instances` (
	`id` text PRIMARY KEY NOT NULL,
	`started_at` integer NOT NULL,
	`heartbeat_at` integer NOT NULL,
	`version` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `logs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`type` integer NOT NULL,
	`user_id` integer NOT NULL,
	`username` text DEFAULT '' NOT NULL,
	`token_id` integer DEFAULT 0 NOT NULL,
	`token_name` text DEFAULT '' NOT NULL,
	`channel` integer DEFAULT 0 NOT NULL,
	`channel_name` text DEFAULT '' NOT NULL,
	`group` text DEFAULT '' NOT NULL,
	`model_name` text DEFAULT '' NOT NULL,
	`quota` integer DEFAULT 0 NOT NULL,
	`prompt_tokens` integer DEFAULT 0 NOT NULL,
	`completion_tokens` integer DEFAULT 0 NOT NULL,
	`use_time` integer DEFAULT 0 NOT NULL,
	`is_stream` integer DEFAULT false NOT NULL,
	`content` text DEFAULT '' NOT NULL,
	`other` text DEFAULT '' NOT NULL,
	`end_reason` text DEFAULT '' NOT NULL,
	`ip` text DEFAULT '' NOT NULL,
	`upstream_request_id` text DEFAULT '' NOT NULL,
	`visible` integer DEFAULT true NOT NULL,
	`folded` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `logs_request_uq` ON `logs` (`request_id`);--> statement-breakpoint
CREATE INDEX `logs_created_ix` ON `logs` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `logs_user_ix` ON `logs` (`user_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `logs_channel_ix` ON `logs` (`channel`,`created_at`);--> statement-breakpoint
CREATE INDEX `logs_model_ix` ON `logs` (`model_name`,`created_at`);--> statement-breakpoint
CREATE INDEX `logs_token_ix` ON `logs` (`token_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `logs_upstream_ix` ON `logs` (`upstream_request_id`) WHERE upstream_request_id <> '';--> statement-breakpoint
CREATE INDEX `logs_unfolded_ix` ON `logs` (`id`) WHERE folded = 0;--> statement-breakpoint
CREATE TABLE `meta` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `options` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`token_hash` text NOT NULL,
	`user_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`ip` text DEFAULT '' NOT NULL,
	`user_agent` text DEFAULT '' NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_uq` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_user_ix` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expires_ix` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`key_hash` text NOT NULL,
	`key_cipher` text NOT NULL,
	`key_hint` text NOT NULL,
	`status` integer DEFAULT 1 NOT NULL,
	`remain_quota` integer DEFAULT 0 NOT NULL,
	`used_quota` integer DEFAULT 0 NOT NULL,
	`unlimited_quota` integer DEFAULT false NOT NULL,
	`expired_time` integer DEFAULT -1 NOT NULL,
	`created_time` integer NOT NULL,
	`accessed_time` integer DEFAULT 0 NOT NULL,
	`model_limits_enabled` integer DEFAULT false NOT NULL,
	`model_limits` text DEFAULT '' NOT NULL,
	`allow_ips` text DEFAULT '' NOT NULL,
	`deny_ips` text DEFAULT '' NOT NULL,
	`group` text DEFAULT '' NOT NULL,
	`rpm` integer DEFAULT 0 NOT NULL,
	`tpm` integer DEFAULT 0 NOT NULL,
	`concurrency` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_key_uq` ON `tokens` (`key_hash`);--> statement-breakpoint
CREATE INDEX `tokens_user_ix` ON `tokens` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `usage_hourly` (
	`hour` integer NOT NULL,
	`user_id` integer NOT NULL,
	`token_id` integer NOT NULL,
	`channel` integer NOT NULL,
	`model_name` text NOT NULL,
	`group` text NOT NULL,
	`username` text DEFAULT '' NOT NULL,
	`count` integer DEFAULT 0 NOT NULL,
	`error_count` integer DEFAULT 0 NOT NULL,
	`quota` integer DEFAULT 0 NOT NULL,
	`prompt_tokens` integer DEFAULT 0 NOT NULL,
	`completion_tokens` integer DEFAULT 0 NOT NULL,
	`use_time` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`hour`, `user_id`, `token_id`, `channel`, `model_name`, `group`)
);
--> statement-breakpoint
CREATE INDEX `usage_hourly_user_ix` ON `usage_hourly` (`user_id`,`hour`);--> statement-breakpoint
CREATE INDEX `usage_hourly_channel_ix` ON `usage_hourly` (`channel`,`hour`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`username` text NOT NULL,
	`password_hash` text NOT NULL,
	`display_name` text DEFAULT '' NOT NULL,
	`email` text DEFAULT '' NOT NULL,
	`role` integer DEFAULT 1 NOT NULL,
	`status` integer DEFAULT 1 NOT NULL,
	`group` text DEFAULT 'default' NOT NULL,
	`quota` integer DEFAULT 0 NOT NULL,
	`used_quota` integer DEFAULT 0 NOT NULL,
	`request_count` integer DEFAULT 0 NOT NULL,
	`access_token_hash` text,
	`aff_code` text,
	`aff_count` integer DEFAULT 0 NOT NULL,
	`aff_quota` integer DEFAULT 0 NOT NULL,
	`aff_history_quota` integer DEFAULT 0 NOT NULL,
	`inviter_id` integer DEFAULT 0 NOT NULL,
	`setting` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`last_login_at` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_username_uq` ON `users` (`username`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_uq` ON `users` (`email`) WHERE email <> '';--> statement-breakpoint
CREATE UNIQUE INDEX `users_access_token_uq` ON `users` (`access_token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_aff_code_uq` ON `users` (`aff_code`);--> statement-breakpoint
CREATE TABLE `versions` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
);

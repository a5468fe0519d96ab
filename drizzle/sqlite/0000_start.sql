CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`created_at` integer NOT NULL,
	`actor_id` integer NOT NULL,
	`actor_name` text DEFAULT '' NOT NULL,
	`action` text NOT NULL,
	`target_type` text DEFAULT '' NOT NULL,
	`target_id` text DEFAULT '' NOT NULL,
	`before` text DEFAULT '' NOT NULL,
	`after` text DEFAULT '' NOT NULL,
	`ip` text DEFAULT '' NOT NULL,
	`request_id` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_log_created_ix` ON `audit_log` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_target_ix` ON `audit_log` (`target_type`,`target_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_actor_ix` ON `audit_log` (`actor_id`,`id`);--> statement-breakpoint
CREATE TABLE `budget_spend` (
	`name` text PRIMARY KEY NOT NULL,
	`amount` integer DEFAULT 0 NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `budget_spend_expires_ix` ON `budget_spend` (`expires_at`);--> statement-breakpoint
CREATE TABLE `channel_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`channel_id` integer NOT NULL,
	`position` integer NOT NULL,
	`key_cipher` text NOT NULL,
	`key_hash` text NOT NULL,
	`status` integer DEFAULT 1 NOT NULL,
	`reason` text DEFAULT '' NOT NULL,
	`status_time` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`channel_id`) REFERENCES `channels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channel_keys_channel_uq` ON `channel_keys` (`channel_id`,`key_hash`);--> statement-breakpoint
CREATE INDEX `channel_keys_key_ix` ON `channel_keys` (`key_hash`);--> statement-breakpoint
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
	`balance_currency` text DEFAULT '' NOT NULL,
	`multi_key_mode` text DEFAULT '' NOT NULL,
	`test_time` integer DEFAULT 0 NOT NULL,
	`created_time` integer NOT NULL,
	`other_info` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `channels_priority_ix` ON `channels` (`priority`,`id`);--> statement-breakpoint
CREATE INDEX `channels_key_ix` ON `channels` (`key_hash`);--> statement-breakpoint
CREATE INDEX `channels_tag_ix` ON `channels` (`tag`);--> statement-breakpoint
CREATE TABLE `codes` (
	`purpose` text NOT NULL,
	`target` text NOT NULL,
	`code_hash` text NOT NULL,
	`data` text DEFAULT '' NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`purpose`, `target`)
);
--> statement-breakpoint
CREATE INDEX `codes_expires_ix` ON `codes` (`expires_at`);--> statement-breakpoint
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
CREATE TABLE `dividends` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`invitee_id` integer NOT NULL,
	`order_id` integer NOT NULL,
	`amount` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dividends_order_uq` ON `dividends` (`order_id`);--> statement-breakpoint
CREATE INDEX `dividends_user_ix` ON `dividends` (`user_id`,`id`);--> statement-breakpoint
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
CREATE TABLE `identities` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`name` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_subject_uq` ON `identities` (`provider`,`subject`);--> statement-breakpoint
CREATE UNIQUE INDEX `identities_user_uq` ON `identities` (`user_id`,`provider`);--> statement-breakpoint
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
CREATE TABLE `log_bodies` (
	`request_id` text PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`request` text DEFAULT '' NOT NULL,
	`response` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `log_bodies_created_ix` ON `log_bodies` (`created_at`);--> statement-breakpoint
CREATE INDEX `log_bodies_user_ix` ON `log_bodies` (`user_id`);--> statement-breakpoint
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
CREATE INDEX `logs_type_ix` ON `logs` (`type`,`created_at`,`id`) WHERE type <> 2;--> statement-breakpoint
CREATE INDEX `logs_group_ix` ON `logs` (`group`,`created_at`);--> statement-breakpoint
CREATE INDEX `logs_apart_ix` ON `logs` (`created_at`) WHERE folded = 2 or not visible;--> statement-breakpoint
CREATE INDEX `logs_unfolded_ix` ON `logs` (`id`) WHERE folded = 0;--> statement-breakpoint
CREATE TABLE `meta` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `notices` (
	`name` text PRIMARY KEY NOT NULL,
	`sent_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `options` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `orders` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`trade_no` text NOT NULL,
	`user_id` integer NOT NULL,
	`amount` integer NOT NULL,
	`quota` integer NOT NULL,
	`money` text NOT NULL,
	`currency` text DEFAULT '' NOT NULL,
	`provider` text NOT NULL,
	`payment_method` text DEFAULT '' NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`provider_ref` text DEFAULT '' NOT NULL,
	`create_time` integer NOT NULL,
	`complete_time` integer DEFAULT 0 NOT NULL,
	`completed_by` integer DEFAULT 0 NOT NULL,
	`next_check_at` integer DEFAULT 0 NOT NULL,
	`checks` integer DEFAULT 0 NOT NULL,
	`note` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `orders_trade_uq` ON `orders` (`trade_no`);--> statement-breakpoint
CREATE INDEX `orders_user_ix` ON `orders` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `orders_check_ix` ON `orders` (`next_check_at`) WHERE next_check_at <> 0;--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer DEFAULT 0 NOT NULL,
	`transports` text DEFAULT '' NOT NULL,
	`backed_up` integer DEFAULT false NOT NULL,
	`name` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_uq` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_user_ix` ON `passkeys` (`user_id`);--> statement-breakpoint
CREATE TABLE `payment_callbacks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider` text NOT NULL,
	`trade_no` text DEFAULT '' NOT NULL,
	`received_at` integer NOT NULL,
	`ip` text DEFAULT '' NOT NULL,
	`body` text DEFAULT '' NOT NULL,
	`verdict` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payment_callbacks_trade_ix` ON `payment_callbacks` (`trade_no`);--> statement-breakpoint
CREATE INDEX `payment_callbacks_time_ix` ON `payment_callbacks` (`received_at`);--> statement-breakpoint
CREATE TABLE `push_subscriptions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`endpoint` text NOT NULL,
	`p256dh` text NOT NULL,
	`auth` text NOT NULL,
	`user_agent` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_subscriptions_endpoint_uq` ON `push_subscriptions` (`endpoint`);--> statement-breakpoint
CREATE INDEX `push_subscriptions_user_ix` ON `push_subscriptions` (`user_id`);--> statement-breakpoint
CREATE TABLE `redemptions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`key_hash` text NOT NULL,
	`key_cipher` text NOT NULL,
	`status` integer DEFAULT 1 NOT NULL,
	`quota` integer NOT NULL,
	`created_time` integer NOT NULL,
	`redeemed_time` integer DEFAULT 0 NOT NULL,
	`used_user_id` integer DEFAULT 0 NOT NULL,
	`expired_time` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `redemptions_key_uq` ON `redemptions` (`key_hash`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`token_hash` text NOT NULL,
	`user_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`ip` text DEFAULT '' NOT NULL,
	`user_agent` text DEFAULT '' NOT NULL,
	`verified_at` integer DEFAULT 0 NOT NULL,
	`turnstile_at` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_uq` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_user_ix` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expires_ix` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `stored_objects` (
	`kind` text NOT NULL,
	`object_id` text NOT NULL,
	`user_id` integer NOT NULL,
	`token_id` integer DEFAULT 0 NOT NULL,
	`channel_id` integer DEFAULT 0 NOT NULL,
	`channel_key_id` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`parent_id` text DEFAULT '' NOT NULL,
	`status` text DEFAULT '' NOT NULL,
	`data` text DEFAULT '' NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`kind`, `object_id`)
);
--> statement-breakpoint
CREATE INDEX `stored_objects_user_ix` ON `stored_objects` (`user_id`,`kind`,`created_at`);--> statement-breakpoint
CREATE INDEX `stored_objects_expires_ix` ON `stored_objects` (`expires_at`) WHERE expires_at <> 0;--> statement-breakpoint
CREATE TABLE `tasks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`task_id` text NOT NULL,
	`platform` text NOT NULL,
	`action` text NOT NULL,
	`user_id` integer NOT NULL,
	`username` text DEFAULT '' NOT NULL,
	`token_id` integer DEFAULT 0 NOT NULL,
	`group` text DEFAULT '' NOT NULL,
	`channel_id` integer NOT NULL,
	`channel_key_id` integer DEFAULT 0 NOT NULL,
	`model` text DEFAULT '' NOT NULL,
	`upstream_id` text DEFAULT '' NOT NULL,
	`parent_id` text DEFAULT '' NOT NULL,
	`client_key` text,
	`status` text NOT NULL,
	`progress` text DEFAULT '' NOT NULL,
	`fail_reason` text DEFAULT '' NOT NULL,
	`prompt` text DEFAULT '' NOT NULL,
	`submit_time_ms` integer NOT NULL,
	`start_time_ms` integer DEFAULT 0 NOT NULL,
	`finish_time_ms` integer DEFAULT 0 NOT NULL,
	`quota` integer DEFAULT 0 NOT NULL,
	`charge_id` text DEFAULT '' NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	`input` text DEFAULT '' NOT NULL,
	`data` text DEFAULT '' NOT NULL,
	`state` text DEFAULT '' NOT NULL,
	`next_poll_at_ms` integer DEFAULT 0 NOT NULL,
	`polls` integer DEFAULT 0 NOT NULL,
	`deadline_ms` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tasks_task_uq` ON `tasks` (`platform`,`task_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `tasks_client_uq` ON `tasks` (`client_key`) WHERE client_key is not null;--> statement-breakpoint
CREATE INDEX `tasks_user_ix` ON `tasks` (`user_id`,`submit_time_ms`);--> statement-breakpoint
CREATE INDEX `tasks_submit_ix` ON `tasks` (`submit_time_ms`,`id`);--> statement-breakpoint
CREATE INDEX `tasks_poll_ix` ON `tasks` (`next_poll_at_ms`) WHERE next_poll_at_ms <> 0;--> statement-breakpoint
CREATE INDEX `tasks_upstream_ix` ON `tasks` (`channel_id`,`upstream_id`);--> statement-breakpoint
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
	`mj_mode` text DEFAULT '' NOT NULL,
	`rpm` integer DEFAULT 0 NOT NULL,
	`tpm` integer DEFAULT 0 NOT NULL,
	`concurrency` integer DEFAULT 0 NOT NULL,
	`budget_day` integer DEFAULT 0 NOT NULL,
	`budget_month` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_key_uq` ON `tokens` (`key_hash`);--> statement-breakpoint
CREATE INDEX `tokens_user_ix` ON `tokens` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `totps` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`secret_cipher` text NOT NULL,
	`enabled_at` integer DEFAULT 0 NOT NULL,
	`last_step` integer DEFAULT 0 NOT NULL,
	`recovery_hashes` text DEFAULT '[]' NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE `usage_sums` (
	`dimension` text NOT NULL,
	`hour` integer NOT NULL,
	`item` text NOT NULL,
	`count` integer NOT NULL,
	`error_count` integer NOT NULL,
	`quota` integer NOT NULL,
	`tokens` integer NOT NULL,
	PRIMARY KEY(`dimension`, `hour`, `item`)
);
--> statement-breakpoint
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
	`rpm` integer DEFAULT 0 NOT NULL,
	`tpm` integer DEFAULT 0 NOT NULL,
	`concurrency` integer DEFAULT 0 NOT NULL,
	`budget_day` integer DEFAULT 0 NOT NULL,
	`budget_month` integer DEFAULT 0 NOT NULL,
	`setting` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`last_login_at` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_username_uq` ON `users` (`username`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_username_lower_uq` ON `users` (lower(username));--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_uq` ON `users` (`email`) WHERE email <> '';--> statement-breakpoint
CREATE UNIQUE INDEX `users_access_token_uq` ON `users` (`access_token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_aff_code_uq` ON `users` (`aff_code`);--> statement-breakpoint
CREATE INDEX `users_inviter_ix` ON `users` (`inviter_id`) WHERE inviter_id <> 0;--> statement-breakpoint
CREATE TABLE `versions` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `withdrawals` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`amount` integer NOT NULL,
	`account` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`note` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`settled_at` integer DEFAULT 0 NOT NULL,
	`actor_id` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `withdrawals_user_ix` ON `withdrawals` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `withdrawals_status_ix` ON `withdrawals` (`status`,`id`);
ALTER TABLE `logs` ADD `code` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `logs` ADD `params` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `logs` ADD `upstream_cost` integer;--> statement-breakpoint
ALTER TABLE `logs` ADD `price_rule` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `logs` ADD `plan_quota` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `logs` ADD `refund_of` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `logs` ADD `repeated` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `logs` ADD `repeated_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `logs` ADD `tags` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `logs_refund_ix` ON `logs` (`refund_of`) WHERE refund_of <> '';--> statement-breakpoint
UPDATE `logs` SET `refund_of` = json_extract(`other`, '$.refund_of')
WHERE `type` = 6 AND `type` <> 2 AND json_valid(`other`) AND json_extract(`other`, '$.refund_of') IS NOT NULL;--> statement-breakpoint
UPDATE `logs` SET `repeated` = json_extract(`other`, '$.repeated'), `repeated_until` = coalesce(json_extract(`other`, '$.repeated_until'), 0)
WHERE `type` = 5 AND `type` <> 2 AND `other` LIKE '%"repeated":%' AND json_valid(`other`) AND json_extract(`other`, '$.repeated') IS NOT NULL;

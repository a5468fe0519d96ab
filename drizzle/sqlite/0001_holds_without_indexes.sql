DROP INDEX `holds_instance_ix`;--> statement-breakpoint
DROP INDEX `holds_user_ix`;
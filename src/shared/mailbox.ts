/** One mail address: a text that could be read as a list, a name, a group or a second header is refused. */
import * as z from "zod";

const MAILBOX = /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@[^\s@,;:<>()[\]"\\\p{Cc}]{1,255}$/u;

export const isMailbox = (address: string): boolean => MAILBOX.test(address);

/** An address as it is stored and compared: in lower case. */
export const mailboxSchema = z
  .string({ error: "mail_address_invalid" })
  .trim()
  .toLowerCase()
  .max(320, "mail_address_invalid")
  .refine(isMailbox, "mail_address_invalid");

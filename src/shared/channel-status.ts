/** The statuses of a channel and of a key. By itself, without schemas: the console's first load has it. */
export const CHANNEL_STATUS = { enabled: 1, disabled: 2, auto_disabled: 3 } as const;

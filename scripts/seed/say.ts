/** Tells the person who seeds what was made. */
export type Say = (line: string) => void;

/** `weir licenses`: the software of others that Weir contains, with the texts of its licences. */
import text from "../../../NOTICE" with { type: "text" };

/** Prints NOTICE, which scripts/licenses.ts writes. */
export async function licensesCommand(): Promise<number> {
  // A reader that has seen enough closes the pipe.
  await Bun.write(Bun.stdout, text).catch(() => undefined);
  return 0;
}

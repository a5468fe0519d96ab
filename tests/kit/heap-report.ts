/** Loaded before the server in trials: at SIGUSR2 it collects garbage and prints the bytes that are left. */
import { heapStats } from "bun:jsc";

let nth = 0;
process.on("SIGUSR2", () => {
  Bun.gc(true);
  const { heapSize, objectCount } = heapStats();
  const rss = process.memoryUsage().rss;
  console.log(JSON.stringify({ heap_after_collection: heapSize, objects: objectCount, rss, nth: ++nth }));
});

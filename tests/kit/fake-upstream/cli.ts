/** `bun tests/kit/fake-upstream/cli.ts --port 4000 [--host 127.0.0.1] [--no-journal] [--list]` */
import { parseArgs } from "node:util";
import { BEHAVIOURS } from "./behaviours";
import { startFakeUpstream } from "./server";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "4000" },
    host: { type: "string", default: "127.0.0.1" },
    "no-journal": { type: "boolean", default: false },
    list: { type: "boolean", default: false },
  },
});

if (values.list) {
  for (const { usage } of Object.values(BEHAVIOURS)) console.log(usage);
} else {
  const upstream = startFakeUpstream({
    port: Number(values.port),
    hostname: values.host,
    journal: !values["no-journal"],
  });
  console.log(`fake upstream on ${upstream.url} (model names are behaviours, see --list)`);
  const stop = (): never => {
    upstream.close();
    process.exit(0);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

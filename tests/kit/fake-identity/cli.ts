/** `bun tests/kit/fake-identity/cli.ts [port]`: runs the providers alone, for trying the sign-in of a Weir by hand. */
import { startFakeIdentity } from "./server";

const fake = await startFakeIdentity({ port: Number(process.argv[2] ?? 4020) });
fake.wechat.set("123456", "wechat-person-1");
const pairs = (entries: Readonly<Record<string, string>>, between: string) =>
  Object.entries(entries)
    .map(([name, value]) => `${name}=${value}`)
    .join(between);
console.log(
  `Start Weir with  ${pairs(fake.env, " ")}\nOptions:\n  ${pairs(fake.options, "\n  ")}\nA WeChat code that works: 123456`,
);

/** Forms that are no forms, or that two readers would read differently, reach no vendor and cost nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";

let weir: Weir;
let user: Session;
let key = "";
const received: { path: string; form: Record<string, string> }[] = [];
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    const form = await request.formData();
    received.push({
      path: pathname,
      form: Object.fromEntries(
        [...form].map(([name, value]) => [name, typeof value === "string" ? value : value.name]),
      ),
    });
    return pathname.startsWith("/v1/images")
      ? Response.json({ created: 1, data: [{ b64_json: "aGk=" }] })
      : Response.json({ text: "hi" });
  },
});

beforeAll(async () => {
  weir = await startWeir();
  await weir.newChannel({ base_url: `http://127.0.0.1:${upstream.port}`, models: ["dear", "cheap"] });
  await weir.setOption("ModelPrice", { dear: 1, cheap: 0.002 });
  user = await weir.newUser({ quota: 5_000_000 });
  ({ key } = await weir.newToken({}, user));
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await upstream.stop(true);
});

const field = (name: string, value: string): string =>
  `--b0und\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, filename = "a.png", type = "image/png", content = "\x89PNG"): string =>
  `--b0und\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
const END = "--b0und--\r\n";
const WHOLE = `${field("model", "cheap")}${field("prompt", "x")}${file("image")}`;

const send = async (body: string, path = "/v1/images/edits"): Promise<{ status: number; text: string }> => {
  const answer = await weir.call(key, body, {
    path,
    headers: { "content-type": "multipart/form-data; boundary=b0und" },
  });
  return { status: answer.status, text: await answer.text() };
};

test.each([
  ["200 parts and more", `${WHOLE}${field("user", "x").repeat(200)}${END}`],
  ["a name of 20 KB", `${WHOLE}${field("n".repeat(20_000), "1")}${END}`],
  ["no end", WHOLE],
  ["an end within its last part", `${WHOLE}${field("user", "x").slice(0, -8)}`],
  ["a form within a form", `${WHOLE}${field("user", `x\r\n--b0und-2\r\n${field("n", "9")}`)}${END}`],
  ["a part without a name", `${WHOLE}--b0und\r\nContent-Disposition: form-data\r\n\r\n1\r\n${END}`],
  ["a file in place of a number", `${WHOLE}${file("n", "", "text/plain", "9")}${END}`],
  ["another model twice", `${WHOLE}${field("model", "dear")}${END}`],
  ["n twice", `${WHOLE}${field("n", "1")}${field("n", "9")}${END}`],
  ["size twice", `${WHOLE}${field("size", "256x256")}${field("size", "1792x1024")}${END}`],
  ["quality twice", `${WHOLE}${field("quality", "low")}${field("quality", "high")}${END}`],
  [
    "a second model behind a parameter's quotes",
    `${WHOLE}--b0und\r\nContent-Disposition: form-data; x="; name=user"; name="model"\r\n\r\ndear\r\n${END}`,
  ],
  ["a second model behind a line feed", `${WHOLE}${field("user", `x\n${field("model", "dear")}`)}${END}`],
  ["a second model behind the end", `${WHOLE}${END}${field("model", "dear")}${END}`],
])("a form with %s is refused, reaches no vendor and costs nothing", async (_, body) => {
  received.length = 0;
  const before = await weir.balance(user.id);
  const { status, text } = await send(body);
  expect([status, JSON.parse(text).error.code]).toEqual([400, "invalid_request"]);
  expect(received).toEqual([]);
  expect([await weir.balance(user.id), await weir.holds()]).toEqual([before, 0]);
});

test("a file's name and type are the vendor's to judge: a path in it is no path here, and the call costs what it says", async () => {
  received.length = 0;
  const before = await weir.balance(user.id);
  const name = "../../../etc/passwd;c";
  const { status } = await send(
    `${field("model", "cheap")}${field("prompt", "x")}${file("image", name, "text/html", "<b>")}${END}`,
  );
  expect([status, received]).toEqual([
    200,
    [
      {
        path: "/v1/images/edits",
        form: { model: "cheap", prompt: "x", image: name },
      },
    ],
  ]);
  const { quota } = await weir.balance(user.id);
  expect(before.quota - quota).toBe(1000);
});

test("a form of a transcription names its model once, and its file once", async () => {
  received.length = 0;
  const audio = file("file", "a.wav", "audio/wav", "RIFF");
  for (const body of [
    `${field("model", "cheap")}${audio}${field("model", "dear")}${END}`,
    `${field("model", "cheap")}${audio}${audio}${END}`,
    `${audio}${file("model", "m", "text/plain", "dear")}${END}`,
  ])
    expect((await send(body, "/v1/audio/transcriptions")).status).toBe(400);
  expect(received).toEqual([]);
});

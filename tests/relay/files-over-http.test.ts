/**
 * Files and batches through a real Weir: their owners, their channels, and that both are off until a channel allows
 * them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { ENGINES } from "../kit/databases";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";

const failing = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
const MODEL = "usage:10:20";
const LINES = `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"${MODEL}","max_tokens":50}}\n`;

for (const engine of ENGINES) {
  describe(engine, () => {
    const upstream = startFakeUpstream();
    const { journal } = upstream;
    let weir: Weir;
    let openai: OpenAI;
    let stranger: OpenAI;
    let key = "";
    let taker = 0;
    const client = (apiKey: string): OpenAI => new OpenAI({ apiKey, baseURL: `${weir.url}/v1`, maxRetries: 0 });
    const upload = (caller = openai, text = LINES, purpose: "batch" | "user_data" = "batch") =>
      toFile(Buffer.from(text), "in.jsonl").then((file) => caller.files.create({ file, purpose }));
    const setting = (value: object): Promise<unknown> =>
      weir.root.ok("PUT", "/api/channel/", {
        id: taker,
        setting: JSON.stringify({ native_calls: "always", ...value }),
      });

    beforeAll(async () => {
      weir = await startWeir({ engine, env: { WEIR_MAX_BODY_MB: "8" } });
      await weir.newChannel({ base_url: upstream.url, models: [MODEL], key: "good-other", priority: 10 });
      taker = await weir.newChannel({ base_url: upstream.url, models: [MODEL], key: "good-taker" });
      await weir.priceModels({ [MODEL]: 1 });
      ({ key } = await weir.newToken());
      openai = client(key);
      const user = await weir.newUser({ quota: 1_000_000 });
      stranger = client((await weir.newToken({}, user)).key);
    }, 60_000);
    afterAll(async () => {
      await weir.stop();
      upstream.close();
    });

    test("nothing is accepted until a channel allows it, with a real boolean", async () => {
      expect(await failing(upload())).toMatchObject({ status: 403, code: "files_unavailable" });
      expect(journal.entries).toHaveLength(0);
      const refused = await weir.root.api("PUT", "/api/channel/", { id: taker, setting: '{"allow_files":"yes"}' });
      expect(refused.body).toMatchObject({ success: false });
      await setting({ allow_files: true });
    });

    test("a file is stored by the channel that allows files, and only its owner sees it", async () => {
      const file = await upload();
      expect(file).toMatchObject({ object: "file", filename: "in.jsonl", purpose: "batch", bytes: LINES.length });
      expect(journal.last()).toMatchObject({ path: "/v1/files", key: "good-taker" });
      expect(await openai.files.retrieve(file.id)).toMatchObject({ id: file.id });
      const content = await openai.files.content(file.id);
      expect(content.headers.get("content-type")).toBe("application/octet-stream");
      expect(content.headers.get("x-content-type-options")).toBe("nosniff");
      expect(await content.text()).toBe(LINES);
      for (const call of [
        () => stranger.files.retrieve(file.id),
        () => stranger.files.content(file.id),
        () => stranger.files.delete(file.id),
      ]) {
        expect(await failing(call())).toMatchObject({ status: 404, code: "file_not_found" });
      }
      expect((await stranger.files.list()).data).toEqual([]);
      expect(await openai.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true });
      expect(await failing(openai.files.retrieve(file.id))).toMatchObject({ status: 404, code: "file_not_found" });
    });

    test("lists contain the caller's own, in pages, by purpose and in either order", async () => {
      const made = [];
      for (const purpose of ["user_data", "batch", "user_data"] as const)
        made.push((await upload(openai, "x", purpose)).id);
      const theirs = await upload(stranger, "theirs");
      const all: string[] = [];
      for await (const { id } of openai.files.list({ limit: 1, order: "asc" })) all.push(id);
      expect([...all].sort()).toEqual([...made].sort());
      expect((await openai.files.list({ order: "desc" })).data.map(({ id }) => id)).toEqual(all.toReversed());
      expect((await openai.files.list({ purpose: "batch" })).data).toHaveLength(1);
      expect((await stranger.files.list()).data.map(({ id }) => id)).toEqual([theirs.id]);
      expect(await failing(openai.files.list({ limit: 0 }))).toMatchObject({ status: 400 });
      for (const id of made) await openai.files.delete(id);
    });

    test("a file of several megabytes is accepted, one beyond the limits is not", async () => {
      const text = "0123456789abcdef".repeat(320 * 1024);
      const file = await upload(openai, text, "user_data");
      expect(file.bytes).toBe(text.length);
      expect((await (await openai.files.content(file.id)).text()) === text).toBe(true);
      expect(await failing(upload(openai, "x".repeat(9 << 20)))).toMatchObject({ status: 413 });
      await weir.setOption("StoredFileMaxMB", 5);
      expect(await failing(upload(openai, "x".repeat(1 << 20)))).toMatchObject({ status: 403, code: "files_full" });
      await weir.setOption("StoredFileMaxMB", 1024);
      await openai.files.delete(file.id);
    });

    test("the size of a user's files is bounded however many are sent at once", async () => {
      const user = await weir.newUser({ quota: 1_000_000 });
      const owner = client((await weir.newToken({}, user)).key);
      await weir.setOption("StoredFileMaxMB", 1);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => failing(upload(owner, "x".repeat(300_000), "user_data"))),
      );
      const refused = answers.filter((error) => error !== undefined);
      expect(refused.length).toBeWithin(7, 10);
      for (const error of refused) expect(error).toMatchObject({ status: 403, code: "files_full" });
      // A refused or deleted one gives its place back.
      const [{ id = "" } = {}] = (await owner.files.list()).data;
      await owner.files.delete(id);
      expect(await failing(upload(owner, "x".repeat(300_000), "user_data"))).toBeUndefined();
      await weir.setOption("StoredFileMaxMB", 1024);
    });

    test("a form without its parts is refused before any upstream is called", async () => {
      journal.clear();
      for (const fill of [
        (form: FormData) => form.set("purpose", "batch"),
        (form: FormData) => form.set("file", new Blob(["x"]), "a.txt"),
        (form: FormData) => (
          form.set("purpose", "batch"),
          form.append("file", new Blob(["x"]), "a.txt"),
          form.append("file", new Blob(["y"]), "b.txt")
        ),
      ]) {
        const form = new FormData();
        fill(form);
        const answer = await fetch(`${weir.url}/v1/files`, {
          method: "POST",
          body: form,
          headers: { authorization: `Bearer ${key}` },
        });
        expect(answer.status).toBe(400);
      }
      expect((await weir.call(key, "{}", { path: "/v1/files" })).status).toBe(400);
      expect(journal.entries).toHaveLength(0);
    });

    test("a call that names a file goes to its channel; another user's file does not exist, however its name is written", async () => {
      const file = await upload(openai, "words", "user_data");
      const input = (file_id: string) => [
        {
          role: "user" as const,
          content: [
            { type: "input_text" as const, text: "read" },
            { type: "input_file" as const, file_id },
          ],
        },
      ];
      await openai.responses.create({ model: MODEL, input: input(file.id) });
      expect(journal.last()).toMatchObject({ path: "/v1/responses", key: "good-taker" });
      await openai.chat.completions.create({
        model: MODEL,
        messages: [{ role: "user", content: [{ type: "file", file: { file_id: file.id } }] }],
      });
      expect(journal.last()).toMatchObject({ path: "/v1/chat/completions", key: "good-taker" });
      journal.clear();
      expect(await failing(stranger.responses.create({ model: MODEL, input: input(file.id) }))).toMatchObject({
        status: 404,
        code: "file_not_found",
      });
      const hidden = JSON.stringify({ model: MODEL, input: input(file.id) }).replace("file_id", "file\\u005fid");
      const key2 = stranger.apiKey ?? "";
      expect((await weir.call(key2, hidden, { path: "/v1/responses" })).status).toBe(404);
      expect(journal.entries).toHaveLength(0);
      // The same member where it names no file.
      await openai.responses.create({ model: MODEL, input: "hi", metadata: { file_id: "mine" } });
      await openai.files.delete(file.id);
    });

    test("batches are refused until the operator allows them, then they belong to their owner, with the files they create, and are charged", async () => {
      const file = await upload();
      const create = (caller = openai) =>
        caller.batches.create({ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" });
      expect(await failing(create())).toMatchObject({ status: 403, code: "batches_unavailable" });
      await setting({ allow_files: true, allow_batches: true });
      expect(await failing(create(stranger))).toMatchObject({ status: 404, code: "file_not_found" });
      const other = client((await weir.newToken({ model_limits_enabled: true, model_limits: "gpt-4o" })).key);
      expect(await failing(create(other))).toMatchObject({ status: 403, code: "token_model_denied" });

      const batch = await create();
      expect(batch).toMatchObject({ object: "batch", status: "validating", input_file_id: file.id });
      for (const call of [() => stranger.batches.retrieve(batch.id), () => stranger.batches.cancel(batch.id)]) {
        expect(await failing(call())).toMatchObject({ status: 404, code: "batch_not_found" });
      }
      expect((await stranger.batches.list()).data).toEqual([]);
      expect((await openai.batches.list()).data).toMatchObject([{ id: batch.id, status: "completed" }]);
      const done = await openai.batches.retrieve(batch.id);
      const output = done.output_file_id ?? "";
      expect(await (await openai.files.content(output)).text()).toContain("custom_id");
      expect(await failing(stranger.files.content(output))).toMatchObject({ status: 404 });
      expect(await failing(openai.batches.cancel(batch.id))).toMatchObject({
        status: 400,
        code: "task_not_cancellable",
      });
      const charge = await weir.waitForLog(
        (row) => row.type === 2 && row.model_name === MODEL && row.other.includes(batch.id),
      );
      const back = await weir.waitForLog((row) => row.type === 6 && row.request_id === `${charge.request_id}/refund`);
      expect(charge.quota - back.quota).toBeGreaterThan(0);
      for (const wrong of [{}, { input_file_id: null }, { input_file_id: 7 }]) {
        expect((await weir.call(key, wrong, { path: "/v1/batches" })).status).toBe(400);
      }
    });

    test("files of a disabled channel are unavailable, and available again with it", async () => {
      const file = await upload();
      await weir.root.ok("PUT", "/api/channel/", { id: taker, status: 2 });
      expect(await failing(openai.files.retrieve(file.id))).toMatchObject({ status: 404 });
      await weir.root.ok("PUT", "/api/channel/", { id: taker, status: 1 });
      await setting({});
      expect(await failing(openai.files.retrieve(file.id))).toMatchObject({ status: 403, code: "files_unavailable" });
      await setting({ allow_files: true });
      expect(await openai.files.retrieve(file.id)).toMatchObject({ id: file.id });
    });
  });
}

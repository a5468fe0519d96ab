/** What is pressed twice happens once: for every call of the console that changes something, and for its forms. */
import "../../../tests/dom";
import { Glob } from "bun";
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";

const { AnswerLost, closePage, openPage, Refusal, screen, waitFor } = await import("../../../tests/kit/client-page");
const { DOUBLE_PRESS_MS, useOnce, useOpening } = await import("./once");
const { trpc } = await import("./trpc");
afterEach(closePage);

const { useState } = await import("react");

const CLIENT = join(import.meta.dir, "..");
const sources = await Promise.all(
  [...new Glob("**/*.{ts,tsx}").scanSync(CLIENT)]
    .filter((path) => !path.includes(".test."))
    .map(async (path) => ({ path, text: await Bun.file(join(CLIENT, path)).text() })),
);
/** Every mutation that a page calls. */
const mutations = [
  ...new Set(
    sources.flatMap(({ text }) => [...text.matchAll(/\btrpc((?:\.\w+)+)\.useMutation\(/g)].map((found) => found[1])),
  ),
].flatMap((path) => (path === undefined ? [] : [path.slice(1)]));

function Caller({ path, onCall }: { path: string; onCall: (call: (input: object) => Promise<unknown>) => void }) {
  const { client } = trpc.useUtils();
  onCall((input) => {
    // The procedures are named by text here, so their types are unknown.
    const procedure = path.split(".").reduce<unknown>((at, name) => Reflect.get(Object(at), name), client);
    const { mutate } = procedure as { mutate: (sent: object) => Promise<unknown> };
    return mutate(input);
  });
  return null;
}

test("every mutation of the console is known to this test", () => {
  expect(mutations.length).toBeGreaterThan(80);
});

test("every mutation that is asked twice at once is sent once and answers both; after its answer it is sent again", async () => {
  const callers = new Map<string, (input: object) => Promise<unknown>>();
  const answer = Promise.withResolvers<string>();
  const { calls } = await openPage(
    <>
      {mutations.map((path) => (
        <Caller key={path} path={path} onCall={(call) => callers.set(path, call)} />
      ))}
    </>,
    "/",
    { procedures: Object.fromEntries(mutations.map((path) => [path, () => answer.promise])) },
  );
  const sent = (path: string) => calls.filter((call) => call.path === path).length;
  const press = () => mutations.map((path) => callers.get(path)?.({ id: 1 }));
  const first = [...press(), ...press()];
  await waitFor(() => expect(calls.length).toBeGreaterThanOrEqual(mutations.length));
  // While the network is slow a third press is the same call, too.
  first.push(...press());
  answer.resolve("done");
  expect(new Set(await Promise.all(first))).toEqual(new Set(["done"]));
  expect(mutations.filter((path) => sent(path) !== 1)).toEqual([]);
  await Promise.all(press());
  expect(mutations.filter((path) => sent(path) !== 2)).toEqual([]);
});

test("a retry after a lost answer carries the key of the first call, for every mutation; after an answer the key is another", async () => {
  const callers = new Map<string, (input: object) => Promise<unknown>>();
  let lost = true;
  const done = new Map<string, Set<string | null>>();
  const { calls, keys } = await openPage(
    <>
      {mutations.map((path) => (
        <Caller key={path} path={path} onCall={(call) => callers.set(path, call)} />
      ))}
    </>,
    "/",
    {
      procedures: Object.fromEntries(
        mutations.map((path) => [
          path,
          () => {
            if (lost) throw new AnswerLost();
            return "done";
          },
        ]),
      ),
    },
  );
  const press = async () => {
    const from = calls.length;
    const answers = await Promise.allSettled(mutations.map((path) => callers.get(path)?.({ id: 1 })));
    calls.slice(from).forEach(({ path }, i) => {
      const used = done.get(path) ?? new Set();
      done.set(path, used.add(keys[from + i] ?? null));
    });
    return answers.map(({ status }) => status);
  };
  const keysEach = () => [...new Set([...done.values()].map((used) => used.size))];
  expect(new Set(await press())).toEqual(new Set(["rejected"]));
  lost = false;
  expect(new Set(await press())).toEqual(new Set(["fulfilled"]));
  expect([done.size, keysEach()]).toEqual([mutations.length, [1]]);
  // The second press of a double click, after the answer to the first.
  await press();
  expect(keysEach()).toEqual([1]);
  await Bun.sleep(DOUBLE_PRESS_MS);
  await press();
  expect(keysEach()).toEqual([2]);
  expect(keys).not.toContain(null);
  expect(new Set(keys).size).toBe(2 * mutations.length);
});

test("one opening of a form has one key until it succeeds, whatever is refused, lost or changed meanwhile", async () => {
  function Form({ name }: { name: string }) {
    const opening = useOpening();
    const create = trpc.redemption.create.useMutation({ trpc: opening, meta: { quiet: true } });
    const [quota, setQuota] = useState(1);
    return (
      <>
        <button onClick={() => setQuota(quota + 1)}>{`change ${name}`}</button>
        <button onClick={() => create.mutate({ name, quota, count: 1 })}>{`send ${name}`}</button>
      </>
    );
  }
  const outcomes = [new AnswerLost(), new Refusal("forbidden"), new AnswerLost(), null, null, null];
  const { user, calls, keys } = await openPage(
    <>
      <Form name="one" />
      <Form name="two" />
    </>,
    "/",
    {
      procedures: {
        "redemption.create": () => {
          const outcome = outcomes.shift();
          if (outcome) throw outcome;
          return [];
        },
      },
    },
  );
  const press = async (name: string) => {
    await user.click(screen.getByText(name));
    const { length } = calls;
    if (name.startsWith("send")) await waitFor(() => expect(calls.length).toBeGreaterThanOrEqual(length));
    await Bun.sleep(20);
  };
  await press("send one");
  await press("change one");
  await press("send one");
  await press("send one");
  await press("send one");
  // It succeeded: something else is a new request. Another opening never had that key.
  await press("change one");
  await press("send one");
  await press("send two");
  expect(keys).toHaveLength(6);
  expect(new Set(keys.slice(0, 4)).size).toBe(1);
  expect(new Set(keys).size).toBe(3);
});

test("a refusal ends the key's use, and another input is another call", async () => {
  let call: (input: object) => Promise<unknown> = () => Promise.reject(new Error("not rendered"));
  const { keys } = await openPage(<Caller path="token.create" onCall={(made) => (call = made)} />, "/", {
    procedures: {
      "token.create": ({ name }: { name: string }) => {
        throw name === "lost" ? new AnswerLost() : new Refusal("forbidden");
      },
    },
  });
  for (const name of ["refused", "refused", "lost", "lost", "else"]) await call({ name }).catch(() => undefined);
  expect(new Set(keys).size).toBe(4);
  expect(keys[2]).toBe(keys[3] ?? "");
});

test("calls that differ are not one call", async () => {
  let call: (input: object) => Promise<unknown> = () => Promise.reject(new Error("not rendered"));
  const { calls } = await openPage(<Caller path="token.delete" onCall={(made) => (call = made)} />, "/", {
    procedures: { "token.delete": () => null },
  });
  await Promise.all([call({ id: 1 }), call({ id: 2 })]);
  expect(calls).toHaveLength(2);
});

test("after a failure the next press is a new call", async () => {
  let call: (input: object) => Promise<unknown> = () => Promise.reject(new Error("not rendered"));
  let failing = true;
  const { calls } = await openPage(<Caller path="token.delete" onCall={(made) => (call = made)} />, "/", {
    procedures: {
      "token.delete": () => {
        if (failing) throw new Error("broken");
        return "done";
      },
    },
  });
  expect(await call({ id: 1 }).catch(() => "failed")).toBe("failed");
  failing = false;
  expect(await call({ id: 1 })).toBe("done");
  expect(calls).toHaveLength(2);
});

test("a submit runs once at a time, and again after it has ended or failed", async () => {
  const ends: PromiseWithResolvers<void>[] = [];
  function Form() {
    const submit = useOnce(() => {
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return end.promise;
    });
    return <button onClick={() => void submit().catch(() => undefined)}>save</button>;
  }
  const { user } = await openPage(<Form />, "/");
  const button = screen.getByRole("button");
  await user.dblClick(button);
  expect(ends).toHaveLength(1);
  ends[0]?.reject(new Error("lost"));
  await Bun.sleep(0);
  await user.dblClick(button);
  expect(ends).toHaveLength(2);
});

/**
 * Calls that book or create, made elsewhere than in a form that opens for them: one press with one input is one
 * request, whose key is kept for a repetition by `keyLink`.
 */
const WITHOUT_OPENING: Readonly<Record<string, string>> = {
  "channel.copy": "a press on a row",
  "channel.test": "a press on a row",
  "channel.testAll": "a press in the toolbar; one run at a time",
  "demo.createChannel": "a press in the wizard, whose channel exists once",
  "log.undoRefund": "a press in a toast",
  "notice.test": "a press in a card: a notice to oneself",
  "option.testMail": "a press in a card: a mail to oneself",
  "order.complete": "a press on a row; an order is completed once",
  "order.pay": "an order costs nothing until it is paid",
  "order.payByCard": "an order costs nothing until it is paid",
  "pricing.reconcile": "makes a report, which moves nothing",
  "redemption.redeem": "a code is redeemed once",
  "user.newAccessToken": "a press in a card; the earlier one dies",
  "user.update": "the drawer gives an added quota a key of its own (adjust_key)",
};

test("every mutation that books or creates has the key of its form's opening, or it is said why it needs none", async () => {
  const { appRouter } = await import("../../server/router");
  const procedures = appRouter._def.procedures as unknown as Record<string, { _def: { meta?: { once?: true } } }>;
  const booking = mutations.filter((path) => procedures[path]?._def.meta?.once);
  expect(booking.length).toBeGreaterThan(15);
  const uses = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\btrpc((?:\.\w+)+)\.useMutation\(([^;]*?)\);/g)].map((found) => ({
      file: path,
      procedure: (found[1] ?? "").slice(1),
      opened: /\btrpc: opening\b/.test(found[2] ?? "") && text.includes("useOpening()"),
    })),
  );
  const without = uses.filter(({ procedure, opened }) => booking.includes(procedure) && !opened);
  expect([...new Set(without.map(({ procedure }) => procedure))].toSorted()).toEqual(
    Object.keys(WITHOUT_OPENING).toSorted(),
  );
});

test("every form of react-hook-form that makes a call submits through the lock: it validates before the call begins", () => {
  const forms = sources.filter(({ text }) => /\bhandleSubmit\(/.test(text) && text.includes("useMutation("));
  expect(forms.length).toBeGreaterThan(3);
  expect(forms.filter(({ text }) => !text.includes("useOnce(")).map(({ path }) => path)).toEqual([]);
});

/** Every mutation tells open pages what to read again, or it is said why it need not. */
import { expect, test } from "bun:test";
import { concernedBy } from "../../src/client/lib/tabs";
import { appRouter } from "../../src/server/router";

/** Mutations that tell nothing, by why. A new one tells unless it says `silent: true` and stands here. */
const SILENT: Readonly<Record<string, readonly string[]>> = {
  "only reads, or asks another server": [
    "channel.fetchModelsFrom",
    "channel.testDraft",
    "identity.tryOidc",
    "identity.tryTelegram",
    "incident.testTarget",
    "notice.test",
    "option.testMail",
    "pricing.remote",
    "pricing.unpriced",
  ],
  "begins what another mutation ends, or proves who asks": [
    "auth.sendReset",
    "auth.sendVerification",
    "auth.verifyPassword",
    "factor.beginPasskey",
    "factor.beginRegistration",
    "factor.passkeyLoginBegin",
    "factor.passkeyRegisterBegin",
    "factor.passkeyVerifyBegin",
    "factor.passkeyVerifyFinish",
    "factor.setup",
    "factor.stepUp",
    "factor.verify",
    "identity.begin",
    "push.begin",
  ],
};

interface Def {
  type: string;
  meta?: { silent?: true; changes?: boolean };
}
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: Def }>).map(
  ([name, { _def }]) => ({
    name,
    noun: name.split(".")[0] ?? "",
    changes: _def.type === "mutation" || _def.meta?.changes === true,
    silent: _def.meta?.silent === true,
  }),
);

test("a mutation tells open pages, or it is said why it changes nothing that they show", () => {
  const silent = procedures.filter((procedure) => procedure.silent).map(({ name }) => name);
  expect(silent.toSorted()).toEqual(Object.values(SILENT).flat().toSorted());
});

test("what a mutation tells makes pages read something again", () => {
  const read = new Set(procedures.filter(({ changes }) => !changes).map(({ noun }) => noun));
  const told = new Set(procedures.filter(({ changes, silent }) => changes && !silent).map(({ noun }) => noun));
  const nothing = [...told].filter((noun) => {
    const again = concernedBy(noun)?.filter((concerned) => concerned !== "audit");
    return again && !again.some((concerned) => read.has(concerned));
  });
  expect(nothing).toEqual([]);
  const unknown = [...told].flatMap((noun) => concernedBy(noun) ?? []).filter((noun) => !read.has(noun));
  expect([...new Set(unknown)]).toEqual(["notice"]);
});

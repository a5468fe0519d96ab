/** How long until a change and a revocation are obeyed by the other nodes, listening and with LISTEN cut. */
import { channelOf } from "../../kit/fake-vendors";
import type { Testbed } from "../../kit/trial/testbed";
import { type Experiment, type Lab, timeUntil } from "./lab";

const ROUNDS = 4;
const MOST_MS = 1000;
const CALL = { body: { max_tokens: 20, messages: [{ role: "user", content: "hello" }] } };

/** Makes a change at the first node; `obeyed`: by the node at this address. */
interface Change {
  make(): Promise<unknown>;
  obeyed(url: string): Promise<boolean>;
}

async function changesOf({ nodes: { weir }, vendors }: Testbed, round: string): Promise<Record<string, Change>> {
  const status = async (url: string, key: string, model: string): Promise<number> => {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...CALL.body, model }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const model = `changing-${round}`;
  const prices = JSON.parse(
    String(
      (await weir.root.ok<{ key: string; value: string }[]>("GET", "/api/option/")).find(
        ({ key }) => key === "ModelRatio",
      )?.value,
    ),
  ) as Record<string, number>;
  await weir.setOption("ModelRatio", { ...prices, [model]: 1 });
  const channel = await weir.newChannel({
    type: channelOf.chat.type,
    name: model,
    key: model,
    base_url: vendors.url,
    models: [model],
  });
  const banned = await weir.newUser({ quota: 1_000_000 });
  const user = await weir.newUser({ quota: 1_000_000 });
  const [theirs, revoked, served] = [
    await weir.newToken({}, banned),
    await weir.newToken({}, user),
    await weir.newToken({}, user),
  ];
  // Every node knows them.
  await Bun.sleep(300);
  return {
    "a price": {
      make: () => weir.setOption("ModelRatio", { ...prices, [model]: 7 }),
      obeyed: async (url) => {
        const answer = await fetch(`${url}/api/option/`, { headers: weir.root.headers });
        const { data } = (await answer.json()) as { data: { key: string; value: string }[] };
        return data.some(({ key, value }) => key === "ModelRatio" && value.includes(`"${model}":7`));
      },
    },
    "a revoked key": {
      make: () => user.ok("DELETE", `/api/token/${revoked.id}`),
      obeyed: async (url) => (await status(url, revoked.key, model)) === 401,
    },
    "a banned user": {
      make: () => weir.root.ok("POST", "/api/user/manage", { id: banned.id, action: "disable" }),
      obeyed: async (url) => [401, 403].includes(await status(url, theirs.key, model)),
    },
    "a disabled channel": {
      make: () => weir.root.ok("PUT", "/api/channel/", { id: channel, status: 2 }),
      obeyed: async (url) => (await status(url, served.key, model)) === 503,
    },
  };
}

/** Cuts every LISTEN connection; how many there were. */
const cutListeners = async ({ server }: Lab): Promise<number> =>
  (await server.admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'listen%'`).length;

export const experiment: Experiment = {
  what: "changes and revocations at one node reach the two others, also after LISTEN was cut",
  run: async (lab) => {
    const bed = await lab.start({ count: 3 });
    const others = bed.nodes.all.slice(1).map(({ url }) => url);
    for (const cut of [false, true]) {
      const took = new Map<string, number[]>();
      for (let round = 0; round < ROUNDS; round++) {
        const changes = await changesOf(bed, `${cut ? "cut" : "listening"}-${round}`);
        for (const [name, { make, obeyed }] of Object.entries(changes)) {
          // What they know of it is in their caches.
          for (const url of others) lab.expect(!(await obeyed(url)), `${name}: not before it was made`);
          if (cut) lab.expect((await cutListeners(lab)) >= bed.nodes.all.length, "every node listened");
          await make();
          const times = await Promise.all(others.map((url) => timeUntil(5000, () => obeyed(url), 10)));
          for (const ms of times) {
            lab.expect(ms !== undefined && ms <= MOST_MS, `${name}${cut ? ", LISTEN cut" : ""}: ${ms} ms`);
            took.set(name, [...(took.get(name) ?? []), ms ?? Number.NaN]);
          }
          // They listen again before the next one.
          if (cut) await Bun.sleep(1500);
        }
      }
      const figures = [...took].map(
        ([name, ms]) => `${name} ${Math.min(...ms).toFixed(0)} to ${Math.max(...ms).toFixed(0)} ms`,
      );
      lab.say(`  ${cut ? "LISTEN cut before each" : "listening"}: ${figures.join(", ")}`);
    }
  },
};

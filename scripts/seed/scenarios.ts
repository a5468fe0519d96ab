/** The scenarios of `npm run seed`. */
import type { Services } from "../../src/server/contracts/context";
import { makeBulk } from "./bulk";
import { makeCalls } from "./calls";
import { makeJobs } from "./jobs";
import { makeOrders } from "./orders";
import { makeChannels, makeMoreChannels, makePeople, makeRoot } from "./people";
import type { Say } from "./say";

export interface Scenario {
  help: string;
  run(services: Services, say: Say): Promise<void>;
}

const DAY = 86_400;

/** People, channels and `count` calls of 90 days, made by the database itself. */
const bulk = async (services: Services, say: Say, count: number): Promise<void> => {
  const root = await makeRoot(services, say);
  const channels = await makeChannels(services, root);
  const people = await makePeople(services, root, 40, say);
  const started = performance.now();
  await makeBulk(services, { people, channels, count, seconds: 90 * DAY, end: Math.floor(services.now() / 1000) });
  say(`${count} calls in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
};

export const scenarios: Record<string, Scenario> = {
  empty: {
    help: "The schema and nothing else: the next start shows the set-up wizard.",
    run: async (services, say) => say(`An empty ${services.db.engine} database.`),
  },
  demo: {
    help: "Channels to the fake upstream, people, tokens, orders, jobs, a week of calls with bills and roll-ups.",
    run: async (services, say) => {
      const root = await makeRoot(services, say);
      const channels = await makeChannels(services, root);
      const people = await makePeople(services, root, 8, say);
      const made = await makeCalls(services, { people, channels, count: 3000, seconds: 7 * DAY });
      await makeMoreChannels(services, root, channels);
      await makeOrders(services, root, people, say);
      say(
        `${await makeJobs(services, root, people, 8)} jobs: drawings, songs and films, finished, failed and running.`,
      );
      say(
        `${channels.length} channels to http://127.0.0.1:4000 (bun tests/kit/fake-upstream/cli.ts), ${made} calls of a week.`,
      );
    },
  },
  "logs-200k": {
    help: "200,000 calls of 90 days, for lists, statistics and query plans.",
    run: async (services, say) => {
      const root = await makeRoot(services, say);
      const channels = await makeChannels(services, root);
      const people = await makePeople(services, root, 40, say);
      const started = performance.now();
      const made = await makeCalls(services, { people, channels, count: 200_000, seconds: 90 * DAY });
      say(`${made} calls in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
    },
  },
  "logs-5m": {
    help: "5,000,000 calls of 90 days: what `npm run bench` measures log and dashboard with. Takes minutes, 7 GB.",
    run: (services, say) => bulk(services, say, 5_000_000),
  },
};

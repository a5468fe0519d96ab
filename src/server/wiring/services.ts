/** Opens what a process needs, in order; `close` undoes it in reverse. */
import { openCluster } from "../cluster/open";
import type { Services } from "../contracts/context";
import { openDb } from "../db/client";
import { adviceOnDamage } from "../db/damage";
import { sharesSessions } from "../db/pooler";
import type { Db } from "../db/types";
import type { Env } from "../env";
import { createChannelPool } from "../features/channel/pool";
import { withVirtualModels } from "../features/virtual/virtual-models";
import { createRefusals } from "../features/log/refusals";
import { createChanges } from "../features/changes/tell";
import { createEvents } from "../features/log/events";
import { createNotices } from "../features/notice/notices";
import { openOptionStore } from "../features/option/store";
import type { OptionStore } from "../contracts/option-store";
import { vendorRules } from "../features/option/vendor-rules";
import { createTokenCache } from "../features/token/authenticate";
import { createLedger, notifyCharges } from "../features/wallet/open-ledger";
import { openSettleQueue } from "../features/wallet/settle-queue";
import { createBackground } from "../lib/background";
import { CannotStart } from "../lib/cannot-start";
import type { Logger } from "../lib/log";
import { createMailer, type MailSettings } from "../lib/mail";
import { steadyOf } from "../lib/timers";
import { previewOf } from "../relay/entry/dry-run";
import { createRouting, type Routing } from "../relay/routing/router";
import { makeDataFolder } from "./data-folder";
import { openSecrets } from "./secret-source";

export interface OpenServices {
  services: Services;
  /** Channel selection of the relay, which the dry run previews. */
  routing: Routing;
  close(): Promise<void>;
}

/** What an operator can fix is reported in one line: a folder that cannot be written, a Postgres that is not there. */
async function openDatabase(env: Env, log: Logger, commandLimits: boolean): Promise<Db> {
  makeDataFolder(env);
  try {
    if (env.DATABASE_URL && (await sharesSessions(env.DATABASE_URL)))
      throw new CannotStart(
        "the Postgres database of DATABASE_URL is behind a pooler that shares sessions (PgBouncer with pool_mode " +
          "transaction or statement): set pool_mode = session, or name Postgres itself",
      );
    return await openDb({
      url: env.databaseUrl,
      sqliteSync: env.WEIR_SQLITE_SYNC,
      pool: env.WEIR_PG_POOL,
      commandLimits,
      gaveUp: (reason) => log.warn({ reason }, "a connection to the database was given up"),
    });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!/^(ERR_POSTGRES_(CONNECTION|AUTHENTICATION|SERVER_ERROR)|SQLITE_(CANTOPEN|READONLY|BUSY))/.test(code))
      throw adviceOnDamage(error, env.databaseUrl) ?? error;
    throw new CannotStart(
      `the ${env.DATABASE_URL ? "Postgres database of DATABASE_URL" : `database ${env.databaseUrl}`} cannot be opened: ${String(error)}`,
    );
  }
}

/** The SMTP card of the settings. */
const mailSettings = ({ get }: Pick<OptionStore, "get">): MailSettings => ({
  host: get("SMTPServer"),
  port: get("SMTPPort"),
  account: get("SMTPAccount"),
  password: get("SMTPToken"),
  from: get("SMTPFrom"),
  name: get("SystemName"),
  ssl: get("SMTPSSLEnabled"),
});

/** `commandLimits`: for an operator's command that works long; no statement is given up before an hour. */
export async function openServices(
  env: Env,
  log: Logger,
  now: () => number = Date.now,
  { commandLimits = false }: { commandLimits?: boolean } = {},
): Promise<OpenServices> {
  const db = await openDatabase(env, log, commandLimits);
  const secrets = await openSecrets(env, db, log);
  const steady = steadyOf(now);
  const cluster = await openCluster({ db, env, log, now: steady });
  const options = await openOptionStore({ db, bus: cluster.bus, secrets, log, now });
  const background = createBackground(log);
  const sendMail = createMailer(
    () => mailSettings(options),
    (reason) => log.warn({ reason }, "a mail could not be sent"),
  );
  const events = createEvents({ db, cluster, background, now, log });
  const changes = createChanges({ db, cluster, background, events });
  const notices = createNotices({ env, log, db, secrets, options, background, sendMail, events, now });
  const refusals = createRefusals({ db, log, background });
  const ledger = notifyCharges(createLedger(db, cluster.instanceId, now), notices.charged);
  const settles = await openSettleQueue({ env, db, ledger, log });
  const base = {
    env,
    log,
    db,
    secrets,
    cluster,
    options,
    ledger,
    settles,
    background,
    sendMail,
    events,
    changes,
    notices,
    refusals,
    now,
  };
  const pool = withVirtualModels(await createChannelPool(base), base);
  const tokens = createTokenCache(base);
  const byScore = (group: string): boolean => {
    const routings = base.options.get("GroupRouting");
    return Object.hasOwn(routings, group) && routings[group] === "score";
  };
  const routing = createRouting(pool, steady, Math.random, byScore, () => base.options.get("CurrencyRates"));
  cluster.bus.subscribe("pauses", (id) => routing.cooldown.works(id));
  return {
    services: { ...base, pool, routing: previewOf(routing, vendorRules(base.options)), tokens },
    routing,
    close: async () => {
      await background.stop();
      await ledger.flush();
      await refusals
        .flush()
        .catch((err: unknown) => log.error({ err }, "refusals that were counted could not be written"));
      await settles.close();
      await cluster.counter.close();
      await cluster.lease.close();
      await cluster.bus.close();
      await db.close();
    },
  };
}

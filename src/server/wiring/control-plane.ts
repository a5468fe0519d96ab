/** The relay's control plane, built from the features of this process. */
import type { Services } from "../contracts/context";
import { channelWatch } from "../features/channel/auto-disable";
import { doubtWatch } from "../features/channel/usage-doubt";
import { createLimits } from "../features/limit/rate-limiter";
import { createSpendStore } from "../features/limit/spend";
import { createContentKeeper } from "../features/log/content";
import { recordFailure } from "../features/log/record";
import { sensitiveWords } from "../features/option/sensitive-words";
import { fundsOf } from "../features/token/funds";
import { createPrices } from "../features/pricing/price";
import { createStoredObjects } from "../features/stored/stored-objects";
import { createAdmit } from "../features/wallet/admission";
import { callLedger } from "../features/wallet/settle-queue";
import { createTaskStore } from "../features/task/task-store";
import { sendWebhook } from "../features/task/hook";
import { egressOpen } from "../lib/egress";
import { userFetch } from "../features/option/egress-policy";
import { findVirtual } from "../features/virtual/virtual-models";
import { snapshotOf } from "../features/option/snapshot";
import { vendorRules } from "../features/option/vendor-rules";
import type { RelayOptions, ControlPlane } from "../contracts/control-plane";

export function createControlPlane(services: Services): ControlPlane {
  const { options, env } = services;
  const prices = createPrices(options);
  const words = sensitiveWords(options);
  const rules = vendorRules(options);
  const keepContent = createContentKeeper(services);
  const option = snapshotOf<RelayOptions>(options, {
    get retryTimes() {
      return options.get("RetryTimes");
    },
    get repeatBelowUnits() {
      return options.get("RetryMaxCost") * options.get("QuotaPerUnit");
    },
    get preConsumedTokens() {
      return options.get("PreConsumedQuota");
    },
    get maxHoldOutputTokens() {
      return options.get("MaxHoldOutputTokens");
    },
    get logConsume() {
      return options.get("LogConsumeEnabled");
    },
    get pingAfterMs() {
      return options.get("PingAfter") * 1000;
    },
    get connectTimeoutMs() {
      return options.get("RelayConnectTimeout") * 1000;
    },
    get firstByteTimeoutMs() {
      return options.get("RelayFirstByteTimeout") * 1000;
    },
    get idleTimeoutMs() {
      return options.get("RelayIdleTimeout") * 1000;
    },
    get totalTimeoutMs() {
      return options.get("RelayTotalTimeout") * 1000;
    },
    get sensitiveWords() {
      return words();
    },
    get maskSensitive() {
      return !options.get("StopOnSensitiveEnabled");
    },
    get vendorRules() {
      return { ...rules };
    },
    get stickyRouting() {
      return options.get("StickyRouting");
    },
    get quotaRefusedWith403() {
      return options.get("QuotaRefused403Enabled");
    },
    get attemptBudgetMs() {
      return options.get("RelayAttemptBudget") * 1000;
    },
    get drainEndsRealtime() {
      return options.get("DrainEndsRealtime");
    },
    get drainEndsJobs() {
      return options.get("DrainEndsJobs");
    },
    get midjourney() {
      return {
        notify: options.get("MjNotifyEnabled"),
        accountFilter: options.get("MjAccountFilterEnabled"),
        modeClear: options.get("MjModeClearEnabled"),
        checkSuccess: options.get("MjActionCheckSuccessEnabled"),
        forwardUrl: options.get("MjForwardUrlEnabled"),
      };
    },
    get serverAddress() {
      return options.get("ServerAddress");
    },
    get batchRatio() {
      return options.get("BatchRatio");
    },
    get currencyRates() {
      return options.get("CurrencyRates");
    },
    get drawing() {
      return options.get("DrawingEnabled");
    },
    get tasks() {
      return options.get("TaskEnabled");
    },
    get balanceUnit() {
      return options.get("DisplayInCurrencyEnabled") ? options.get("QuotaPerUnit") : 1;
    },
    maxBodyBytes: env.WEIR_MAX_BODY_MB * 1024 * 1024,
  });
  const limits = createLimits({ ...services, spend: createSpendStore(services) });
  const ledger = callLedger(services.ledger, services.settles);
  return {
    authenticate: (key, ip, lang) => services.tokens.authenticate(key, ip, lang),
    watchKey: services.tokens.watch,
    price: prices.price,
    pool: services.pool,
    virtual: findVirtual(services),
    admit: createAdmit({ limits, ledger, log: services.log }),
    ledger,
    funds: (caller) => fundsOf(services, caller),
    limits,
    storedObjects: createStoredObjects(services),
    tasks: createTaskStore(services),
    openAddress: (address, { signal, ...request }) =>
      egressOpen(address, { ...request, ...userFetch(services) }, signal),
    sendWebhook: (address, body) => sendWebhook(services, address, body),
    channelFailed: channelWatch(services),
    usageDoubted: doubtWatch(services),
    get keepContent() {
      return options.get("LogContentEnabled") ? keepContent : undefined;
    },
    recordFailure: (log) => recordFailure(services, log),
    recordRefusal: (log, code) => services.refusals.record(log, code),
    get option() {
      return option();
    },
    now: services.now,
  };
}

/**
 * An easy-pay gateway for tests and development: takes the payer's form, shows a page with one button, reports the
 * payment and answers queries about orders. It computes signatures itself, so that a fault in ours shows.
 */
import { createHash } from "node:crypto";

export const EPAY_MERCHANT = { pid: "1001", key: "89unJUB8HZ54Hj7x4nUj56HN4nUzUJ8i" } as const;

export interface EpayTrade {
  /** The gateway's own number. */
  trade_no: string;
  out_trade_no: string;
  type: string;
  name: string;
  money: string;
  notify_url: string;
  return_url: string;
  paid: boolean;
}

export interface FakeEpay {
  url: string;
  trades: ReadonlyMap<string, EpayTrade>;
  /** Queries about orders. */
  asked: string[];
  /** Refuses every query until reset. */
  broken: boolean;
  /** Sends no payment report automatically. */
  silent: boolean;
  /** Marks an order as paid, whether or not its form was posted here; reports it unless disabled. */
  pay(order: { trade_no: string; money: string; type: string }): void;
  /** The parameters of a report, signed; `changes` are applied before the signature, `after` afterwards. */
  report(out_trade_no: string, changes?: Record<string, string>, after?: Record<string, string>): URLSearchParams;
  stop(): Promise<void>;
}

function signed(parameters: Record<string, string>, key: string): Record<string, string> {
  const line = Object.keys(parameters)
    .filter((name) => parameters[name] !== "")
    .sort()
    .map((name) => `${name}=${parameters[name]}`)
    .join("&");
  return {
    ...parameters,
    sign: createHash("md5")
      .update(line + key, "utf8")
      .digest("hex"),
    sign_type: "MD5",
  };
}

const page = (body: string) =>
  new Response(`<!doctype html><meta charset="utf-8"><title>Fake gateway</title><body>${body}</body>`, {
    headers: { "content-type": "text/html; charset=utf-8" },
  });

export function startFakeEpay({
  port = 0,
  pid = EPAY_MERCHANT.pid,
  key = EPAY_MERCHANT.key,
}: { port?: number; pid?: string; key?: string } = {}): FakeEpay {
  const trades = new Map<string, EpayTrade>();
  let numbers = 0;

  const noticeOf = (trade: EpayTrade, changes: Record<string, string> = {}) =>
    signed(
      {
        pid,
        trade_no: trade.trade_no,
        out_trade_no: trade.out_trade_no,
        type: trade.type,
        name: trade.name,
        money: trade.money,
        trade_status: "TRADE_SUCCESS",
        ...changes,
      },
      key,
    );

  async function submit(form: URLSearchParams): Promise<Response> {
    const given = Object.fromEntries(form);
    const { sign, sign_type: _type, ...rest } = given;
    if (given.pid !== pid) return page("商户不存在");
    if (sign !== signed(rest, key).sign) return page("签名校验失败");
    const { out_trade_no = "", type = "", name = "", money = "", notify_url = "", return_url = "" } = given;
    const trade: EpayTrade = {
      trade_no: `2026${++numbers}`,
      out_trade_no,
      type,
      name,
      money,
      notify_url,
      return_url,
      paid: false,
    };
    trades.set(out_trade_no, trade);
    return page(
      `<p id="money">${Number(money).toFixed(2)}</p><form method="post" action="/paid?out_trade_no=${encodeURIComponent(out_trade_no)}"><button>Pay</button></form>`,
    );
  }

  const fake: FakeEpay = {
    url: "",
    trades,
    asked: [],
    broken: false,
    silent: false,
    pay: ({ trade_no, money, type }) => {
      const known = trades.get(trade_no);
      trades.set(trade_no, {
        ...(known ?? {
          trade_no: `2026${++numbers}`,
          out_trade_no: trade_no,
          type,
          name: "",
          money,
          notify_url: "",
          return_url: "",
        }),
        paid: true,
      });
    },
    report: (out_trade_no, changes, after) => {
      const trade = trades.get(out_trade_no);
      if (!trade) throw new Error(`the fake gateway knows no order ${out_trade_no}`);
      return new URLSearchParams({ ...noticeOf(trade, changes), ...after });
    },
    stop: () => server.stop(true),
  };

  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/submit.php")
        return submit(request.method === "POST" ? new URLSearchParams(await request.text()) : searchParams);
      const trade = trades.get(searchParams.get("out_trade_no") ?? "");
      if (pathname === "/paid" && trade) {
        trade.paid = true;
        if (!fake.silent) await fetch(`${trade.notify_url}?${fake.report(trade.out_trade_no)}`).catch(() => {});
        const back = `${trade.return_url}${trade.return_url.includes("?") ? "&" : "?"}${fake.report(trade.out_trade_no)}`;
        return new Response(null, { status: 302, headers: { location: back } });
      }
      if (pathname === "/api.php" && searchParams.get("act") === "order") {
        fake.asked.push(searchParams.get("out_trade_no") ?? "");
        if (fake.broken) return new Response("<html>502</html>", { status: 502 });
        if (searchParams.get("pid") !== pid || searchParams.get("key") !== key)
          return Response.json({ code: -3, msg: "商户密钥错误" });
        if (!trade) return Response.json({ code: -1, msg: "订单号不存在" });
        const { trade_no, out_trade_no, type, name, money, paid } = trade;
        return Response.json({
          code: 1,
          msg: "查询订单号成功！",
          trade_no,
          out_trade_no,
          type,
          pid: Number(pid),
          name,
          money,
          status: paid ? 1 : 0,
        });
      }
      return page("not found");
    },
  });
  fake.url = `http://127.0.0.1:${server.port}`;
  return fake;
}

import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import {
  type OrderAdminView,
  ORDER_STATUSES,
  orderStatuses,
  type OrderStatus,
  type OrderView,
  PAYABLE_STATUSES,
  PAYMENT_PROVIDERS,
} from "../../../shared/order";
import { ROLE } from "../../../shared/roles";
import { confirm } from "../../components/confirm";
import { Quota } from "../../components/quota";
import { TimeAgo } from "../../components/time-ago";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";
import { useHasRole } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { choiceParam, textParam, useUrlState } from "../../lib/url-state";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Input } from "../../ui/input";
import { Select } from "../../ui/select";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { PagedTable, ROWS } from "../../components/paged-table";
import { CallbacksButton, verdictText } from "./callbacks-button";
import { moneyText } from "./money";
import { OrderBadge } from "./order-badge";
import { usePayMethods } from "./pay-methods";
import { useDebounced } from "../../lib/use-debounced";

const PARAMS = { orders: choiceParam(["own", "all"], "own"), order: textParam() };
const OPTIONS = { placeholderData: keepPreviousData, meta: { quiet: true } } as const;
const ALL = "all";

/**
 * The history of top-ups; `?orders=all` shows all users' top-ups, for administrators; `order=` is what is looked for.
 */
export default function OrdersSection() {
  const { t } = useLingui();
  const admin = useHasRole(ROLE.admin);
  const [{ orders }, patch] = useUrlState(PARAMS);
  return (
    <Card>
      <CardHeader title={t`充值订单`} />
      <CardBody>
        {admin ? (
          <Tabs value={orders} onValueChange={(value) => patch({ orders: value === ALL ? ALL : "own" })}>
            <TabsList aria-label={t`充值订单`}>
              <TabsTrigger value="own">{t`我的订单`}</TabsTrigger>
              <TabsTrigger value={ALL}>{t`所有订单`}</TabsTrigger>
            </TabsList>
            <TabsContent value="own">
              <OwnOrders />
            </TabsContent>
            <TabsContent value={ALL}>
              <AllOrders />
            </TabsContent>
          </Tabs>
        ) : (
          <OwnOrders />
        )}
      </CardBody>
    </Card>
  );
}

function useOrderColumns() {
  const { t } = useLingui();
  const methods = usePayMethods() ?? [];
  const nameOf = ({ provider, payment_method }: OrderView): string =>
    methods.find((method) => method.type === payment_method)?.name ??
    (provider === "stripe" ? PAYMENT_PROVIDERS.stripe[currentLanguage()] : payment_method);
  return {
    time: {
      id: "time",
      header: t`时间`,
      cell: (row: OrderView) => <TimeAgo value={row.create_time} className="whitespace-nowrap" />,
    },
    number: {
      id: "number",
      header: t`订单号`,
      cell: (row: OrderView) => <code className="font-mono text-xs whitespace-nowrap">{row.trade_no}</code>,
    },
    quota: { id: "quota", header: t`额度`, end: true, cell: (row: OrderView) => <Quota value={row.quota} /> },
    money: {
      id: "money",
      header: t`支付金额`,
      end: true,
      cell: (row: OrderView) => <span className="tabular-nums">{moneyText(row.money, row.currency)}</span>,
    },
    method: {
      id: "method",
      header: t`支付方式`,
      cell: (row: OrderView) => <span className="whitespace-nowrap">{nameOf(row)}</span>,
    },
    status: { id: "status", header: t`状态`, cell: (row: OrderView) => <OrderBadge status={row.status} /> },
  };
}

function OwnOrders() {
  const { t } = useLingui();
  const [page, setPage] = useState(1);
  const [{ order: typed }] = useUrlState(PARAMS);
  const keyword = useDebounced(typed, 300);
  const query = trpc.order.own.useQuery({ p: page, page_size: ROWS, ...(keyword && { keyword }) }, OPTIONS);
  const { time, number, quota, money, method, status } = useOrderColumns();
  // Before the first order there is nothing to look for.
  const some = typed !== "" || (query.data?.total ?? 0) > 0;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {some ? <OrderSearch placeholder={t`订单号`} onTyped={() => setPage(1)} /> : null}
      <PagedTable
        label={t`我的订单`}
        query={query}
        page={page}
        onPage={setPage}
        empty={keyword ? t`没有这样的订单` : t`还没有充值订单`}
        columns={[time, number, quota, money, method, status]}
      />
    </div>
  );
}

/** What is looked for; the address holds it. */
function OrderSearch({ placeholder, onTyped }: { placeholder: string; onTyped: () => void }) {
  const { t } = useLingui();
  const [{ order }, patch] = useUrlState(PARAMS);
  return (
    <Input
      type="search"
      aria-label={t`搜索订单`}
      placeholder={placeholder}
      value={order}
      maxLength={200}
      onChange={(event) => {
        patch({ order: event.target.value });
        onTyped();
      }}
      className="w-64 max-w-full"
    />
  );
}

/** All users' orders: found by number, user and state, and completed by hand when a payment was not reported. */
function AllOrders() {
  const { t } = useLingui();
  const [page, setPage] = useState(1);
  const [state, setState] = useState<OrderStatus | typeof ALL>(ALL);
  const [{ order: typed }] = useUrlState(PARAMS);
  const keyword = useDebounced(typed, 300);
  const query = trpc.order.list.useQuery(
    { p: page, page_size: ROWS, ...(keyword && { keyword }), ...(state !== ALL && { status: state }) },
    OPTIONS,
  );
  const { time, number, quota, money, method, status } = useOrderColumns();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap gap-2">
        <OrderSearch placeholder={t`订单号、用户名或用户 ID`} onTyped={() => setPage(1)} />
        <Select
          aria-label={t`订单状态`}
          value={state}
          options={[
            { value: ALL, label: t`全部` },
            ...orderStatuses.map((value) => ({ value, label: ORDER_STATUSES[value][currentLanguage()] })),
          ]}
          onValueChange={(value) => {
            setState(orderStatuses.find((known) => known === value) ?? ALL);
            setPage(1);
          }}
          className="w-40"
        />
      </div>
      <PagedTable<OrderAdminView>
        label={t`所有订单`}
        query={query}
        page={page}
        onPage={setPage}
        empty={t`没有这样的订单`}
        columns={[
          time,
          {
            id: "user",
            header: t`用户`,
            cell: (row) => <span className="wrap-anywhere">{row.username || row.user_id}</span>,
          },
          number,
          quota,
          money,
          method,
          status,
          { id: "note", header: t`备注`, cell: (row) => <OrderNote order={row} /> },
          { id: "actions", header: t`操作`, end: true, cell: (row) => <OrderActions order={row} /> },
        ]}
      />
    </div>
  );
}

/** What is odd about an order. */
function OrderNote({ order: { note, completed_by } }: { order: OrderAdminView }) {
  const { t } = useLingui();
  if (completed_by > 0) return <>{t`由管理员 ${completed_by} 补单`}</>;
  if (note === "unreachable") return <>{t`支付平台无法访问`}</>;
  return note ? <span className="text-red-fg">{verdictText(note)}</span> : null;
}

function OrderActions({ order }: { order: OrderAdminView }) {
  return (
    <span className="flex justify-end gap-2">
      <CallbacksButton tradeNo={order.trade_no} />
      <CompleteButton order={order} />
    </span>
  );
}

function CompleteButton({ order }: { order: OrderAdminView }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const complete = trpc.order.complete.useMutation();
  if (!PAYABLE_STATUSES.some((status) => status === order.status)) return null;
  const { trade_no: tradeNo } = order;
  const [who, amount, paid] = [
    order.username || String(order.user_id),
    quotaText(order.quota),
    moneyText(order.money, order.currency),
  ];
  const submit = async () => {
    const question = {
      title: t`为 ${who} 补单 ${amount}？`,
      description: t`请先在支付平台确认订单 ${tradeNo} 已支付 ${paid}。额度将立即到账，操作会记入审计日志。`,
      action: t`补单`,
    };
    if (complete.isPending || !(await confirm(question))) return;
    try {
      await complete.mutateAsync({ trade_no: tradeNo });
      toastSuccess(t`补单成功，到账 ${amount}`);
    } catch {
      // The query client shows the error.
    } finally {
      void utils.order.invalidate();
      void utils.user.self.invalidate();
    }
  };
  return (
    <Button size="sm" loading={complete.isPending} onClick={() => void submit()}>
      {t`补单`}
    </Button>
  );
}

import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import { AUDIT_ACTIONS, AUDIT_TARGETS, type AuditAction, type AuditView } from "../../../shared/audit";
import { DataGrid } from "../../components/data-grid/data-grid";
import { useGridState } from "../../components/data-grid/grid-state";
import { listedPage } from "../../components/data-grid/listed-page";
import { type GridColumn, type GridFilter, timeValue } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { TimeAgo } from "../../components/time-ago";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { CodeBlock } from "../../ui/code-block";
import { Drawer } from "../../ui/drawer";
import { Table, Td, Th } from "../../ui/table";
import { changeLine, changesOf } from "./audit-changes";

const FILTERS = ["actor", "action", "target_type", "target_id", "start", "end"] as const;

const isAction = (text: string): text is AuditAction => Object.hasOwn(AUDIT_ACTIONS, text);
const isTarget = (text: string): text is keyof typeof AUDIT_TARGETS => Object.hasOwn(AUDIT_TARGETS, text);
/** The action's label; actions of another release by their name. */
const actionName = (action: string): string => (isAction(action) ? AUDIT_ACTIONS[action][currentLanguage()] : action);
const targetName = ({ target_type, target_id }: AuditView): string =>
  `${isTarget(target_type) ? AUDIT_TARGETS[target_type][currentLanguage()] : target_type} ${target_id}`.trim();

/** Every administrative action, for root: who changed what, before and after. `?open=<id>` shows both sides. */
export default function AuditPage() {
  const { t } = useLingui();
  const grid = useGridState({ name: "audit", filterKeys: FILTERS });
  const columns = useAuditColumns();
  const { start, end, ...texts } = grid.filters;
  const time = (text: string) => (/^\d{1,12}$/.test(text) ? Number(text) : undefined);
  const { client } = trpc.useUtils();
  const asked = { ...texts, start: time(start), end: time(end) };
  const list = trpc.audit.list.useQuery(
    { page: grid.page, page_size: grid.pageSize, ...asked },
    { placeholderData: keepPreviousData, meta: { quiet: true } },
  );
  const filters: readonly GridFilter[] = [
    {
      key: "action",
      label: t`操作`,
      kind: "choice",
      options: Object.keys(AUDIT_ACTIONS).map((value) => ({ value, label: actionName(value) })),
    },
    {
      key: "target_type",
      label: t`对象类型`,
      kind: "choice",
      options: Object.entries(AUDIT_TARGETS).map(([value, name]) => ({ value, label: name[currentLanguage()] })),
    },
    { key: "target_id", label: t`对象 ID`, kind: "text" },
    { key: "start", label: t`开始时间`, kind: "time" },
    { key: "end", label: t`结束时间`, kind: "time" },
  ];
  const open = list.data?.items.find((row) => String(row.id) === grid.open);

  return (
    <Page title={t`操作审计`}>
      <DataGrid
        grid={grid}
        label={t`操作审计`}
        columns={columns}
        {...listedPage(list, grid.pageSize)}
        search={{ key: "actor", placeholder: t`操作人用户名` }}
        filters={filters}
        readPage={async (page, page_size) => (await client.audit.list.query({ page, page_size, ...asked })).items}
        onOpen={(row) => grid.setOpen(row.id)}
        empty={{ title: t`还没有记录`, description: t`管理员对用户、渠道和设置的每次修改都会记录在这里。` }}
      />
      {open ? (
        <Drawer
          open
          modal={false}
          onOpenChange={(next) => !next && grid.setOpen(null)}
          title={`${actionName(open.action)} · ${targetName(open)}`}
        >
          <Act act={open} />
        </Drawer>
      ) : null}
    </Page>
  );
}

function useAuditColumns(): readonly GridColumn<AuditView>[] {
  const { t } = useLingui();
  return useMemo(
    () => [
      {
        id: "time",
        header: t`时间`,
        width: 110,
        fixed: true,
        card: "fact",
        exported: (row) => ({ created_at: timeValue(row.created_at) }),
        cell: (row) => <TimeAgo value={row.created_at} />,
      },
      {
        id: "actor",
        header: t`操作人`,
        width: 130,
        card: "title",
        exported: ({ actor_id, actor_name }) => ({ actor_id, actor_name }),
        cell: (row) => <span className="truncate">{row.actor_name}</span>,
      },
      {
        id: "action",
        header: t`操作`,
        width: 150,
        card: "status",
        exported: ({ action }) => ({ action }),
        cell: (row) => actionName(row.action),
      },
      {
        id: "target",
        header: t`对象`,
        width: 190,
        card: "fact",
        exported: ({ target_type, target_id }) => ({ target_type, target_id }),
        cell: (row) => <span className="truncate">{targetName(row)}</span>,
      },
      {
        id: "change",
        header: t`修改`,
        width: 260,
        grow: true,
        exported: ({ before, after }) => ({ before, after }),
        cell: (row) => (
          <code className="truncate font-mono text-xs" title={changeLine(row.before, row.after)}>
            {changeLine(row.before, row.after)}
          </code>
        ),
      },
      {
        id: "ip",
        header: "IP",
        width: 130,
        exported: ({ ip }) => ({ ip }),
        cell: (row) => <span className="font-mono text-xs">{row.ip}</span>,
      },
    ],
    [t],
  );
}

/** JSON laid out; text that is none as it is. */
function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Act({ act }: { act: AuditView }) {
  const { t } = useLingui();
  // What made something has no side before it, what removed it none after.
  const both = act.before !== "" && act.after !== "";
  const changes = changesOf(act.before, act.after);
  const facts: [string, string][] = [
    [t`时间`, formatTime(act.created_at)],
    [t`操作人`, `${act.actor_name} (${act.actor_id})`],
    ["IP", act.ip],
    [t`请求 ID`, act.request_id],
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        {facts.map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="text-muted">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      {changes && changes.length > 0 ? (
        <Table aria-label={t`修改`}>
          <thead>
            <tr>
              <Th>{t`字段`}</Th>
              {both ? <Th>{t`修改前`}</Th> : null}
              <Th>{both ? t`修改后` : t`值`}</Th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ field, before, after }) => (
              <tr key={field}>
                <Td className="font-mono text-xs">{field}</Td>
                {act.before ? <Td className="font-mono text-xs wrap-anywhere text-red-fg">{before}</Td> : null}
                {act.after ? <Td className="font-mono text-xs wrap-anywhere text-green-fg">{after}</Td> : null}
              </tr>
            ))}
          </tbody>
        </Table>
      ) : null}
      {act.before && (both || !changes) ? (
        <section>
          <h3 className="mb-1 font-medium">{t`修改前`}</h3>
          <CodeBlock label={t`修改前`} code={laidOut(act.before)} wrap />
        </section>
      ) : null}
      {act.after && (both || !changes) ? (
        <section>
          <h3 className="mb-1 font-medium">{t`修改后`}</h3>
          <CodeBlock label={t`修改后`} code={laidOut(act.after)} wrap />
        </section>
      ) : null}
    </div>
  );
}

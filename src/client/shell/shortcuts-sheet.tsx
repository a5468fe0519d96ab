import { useLingui } from "@lingui/react/macro";
import { setSingleKeys, useSingleKeys } from "../lib/hotkeys";
import { useUser } from "../lib/session";
import { menuPages } from "../paths";
import { Dialog } from "../ui/dialog";
import { Kbd } from "../ui/kbd";
import { SwitchField } from "../ui/switch";

/** All keys, and the switch that turns the single ones off. */
export default function ShortcutsSheet({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const { t, i18n } = useLingui();
  const user = useUser();
  const singleKeys = useSingleKeys();
  const groups = [
    {
      title: t`通用`,
      keys: [
        [["Ctrl", "K"], t`搜索页面与操作`],
        [["?"], t`快捷键`],
        [["Esc"], t`关闭最上层`],
      ],
    },
    {
      title: t`列表`,
      keys: [
        [["J"], t`下一行`],
        [["K"], t`上一行`],
        [["X"], t`选择行`],
        [["Enter"], t`打开`],
        [["E"], t`编辑`],
        [["C"], t`复制`],
        [["."], t`行菜单`],
        [["/"], t`搜索列表`],
        [["F"], t`筛选`],
        [["R"], t`刷新`],
      ],
    },
    {
      title: t`前往`,
      keys: menuPages(user?.role ?? 0)
        .filter((page) => page.goKey)
        .map((page) => [["G", (page.goKey ?? "").toUpperCase()], i18n._(page.title)]),
    },
  ] as { title: string; keys: [string[], string][] }[];

  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t`快捷键`} className="w-[min(640px,calc(100vw-32px))]">
      <div className="my-2">
        <SwitchField label={t`启用单键快捷键`} checked={singleKeys} onCheckedChange={setSingleKeys} />
      </div>
      <div className="gap-x-8 sm:columns-2">
        {groups
          .filter((group) => group.keys.length > 0)
          .map((group) => (
            <section key={group.title} className="mb-4 break-inside-avoid">
              <h3 className="mb-1 text-xs text-muted">{group.title}</h3>
              <dl>
                {group.keys.map(([keys, text]) => (
                  <div key={text} className="flex items-center justify-between border-b border-line py-1 last:border-0">
                    <dt>{text}</dt>
                    <dd className="flex gap-1">
                      {keys.map((key) => (
                        <Kbd key={key}>{key}</Kbd>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
    </Dialog>
  );
}

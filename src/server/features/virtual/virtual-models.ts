/** Virtual models: found for a caller, listed in groups, and checked when they are saved. */
import { fail } from "../../../shared/errors";
import { canonicalModel } from "../../../shared/channel-types";
import { DEFAULT_GROUP, mayUseGroup } from "../../../shared/group";
import type { VirtualModels, VirtualStep } from "../../../shared/virtual-models";
import type { Lang } from "../../../shared/text";
import type { ChannelPool } from "../../contracts/channel-pool";
import type { Services } from "../../contracts/context";
import type { OptionStore } from "../../contracts/option-store";
import type { FindVirtual } from "../../contracts/virtual-models";
import { groupFacts } from "../group/facts";
import { createPrices } from "../pricing/price";

type Options = Pick<Services, "options">;

/** Looks names up in the option VirtualModels, as it is at the time of the call. */
export const findVirtual =
  ({ options }: Options): FindVirtual =>
  (name, { user_group }) => {
    const all = options.get("VirtualModels");
    const found = Object.hasOwn(all, name) ? all[name] : undefined;
    if (!found) return undefined;
    const facts = groupFacts({ options });
    return {
      name,
      steps: found.steps.map((step) => ({
        ...step,
        model: canonicalModel(step.model),
        denied: step.group !== undefined && !mayUseGroup(facts, user_group, step.group),
      })),
      fixed_price: found.fixed_price === true,
      told: options.get("VirtualModelHeader"),
    };
  };

/** The pool whose lists of a group's models also have the virtual models that some step serves there. */
export function withVirtualModels(pool: ChannelPool, { options }: Options): ChannelPool {
  const kept = new Map<string, { made: readonly unknown[]; names: readonly string[] }>();
  const serves = (group: string, step: VirtualStep): boolean => {
    const model = canonicalModel(step.model);
    if (step.group === undefined) return pool.candidates(group, model).length > 0;
    return mayUseGroup(groupFacts({ options }), group, step.group) && pool.candidates(step.group, model).length > 0;
  };
  return {
    ...pool,
    models: (group) => {
      const real = pool.models(group);
      const all = options.get("VirtualModels");
      const entries = Object.entries(all);
      if (entries.length === 0) return real;
      const made = [real, all, options.get("UserUsableGroups"), options.get("GroupRatio"), pool.enabledModels()];
      const known = kept.get(group);
      if (known && made.every((one, i) => one === known.made[i])) return known.names;
      const own = entries.flatMap(([name, { steps }]) => (steps.some((step) => serves(group, step)) ? [name] : []));
      const names = own.length === 0 ? real : [...new Set([...real, ...own])].sort();
      if (kept.size >= MOST_GROUPS) kept.clear();
      kept.set(group, { made, names });
      return names;
    },
  };
}

const MOST_GROUPS = 1000;

/**
 * Refuses virtual models that cannot work: a name that a channel serves under the same name, a step whose model or
 * group is unknown. `before`: the value in force; an entry that stays as it is is not checked again, so that a channel
 * that was removed since does not stand in the way of another change.
 */
export function checkVirtualModels(
  {
    pool,
    options,
    lang,
  }: {
    pool: { all(): readonly { models: Pick<ReadonlySet<string>, "has">; groups: Iterable<string> }[] };
    options: Pick<OptionStore, "get" | "version">;
    lang: Lang;
  },
  wanted: VirtualModels,
  label: string,
): void {
  const before = options.get("VirtualModels");
  const refuse = (zh: string, en: string): never => fail("option_invalid", { label, detail: lang === "zh" ? zh : en });
  const channels = pool.all();
  const groups = new Set([...Object.keys(options.get("GroupRatio")), ...channels.flatMap((one) => [...one.groups])]);
  for (const [name, virtual] of Object.entries(wanted)) {
    if (JSON.stringify(before[name]) === JSON.stringify(virtual)) continue;
    if (channels.some(({ models }) => models.has(name)))
      refuse(`“${name}”是渠道提供的模型，不能作为虚拟模型名`, `"${name}" is a model of a channel already`);
    if (virtual.fixed_price && !createPrices(options).price(name, DEFAULT_GROUP, DEFAULT_GROUP))
      refuse(`请先为“${name}”设置价格，再使用固定价格`, `Set a price for "${name}" first: it is its fixed price`);
    for (const { model, group } of virtual.steps) {
      if (!channels.some(({ models }) => models.has(canonicalModel(model))))
        refuse(`“${name}”的步骤“${model}”没有渠道提供`, `No channel has the model "${model}" of "${name}"`);
      if (group !== undefined && !groups.has(group))
        refuse(`“${name}”的步骤使用了不存在的分组“${group}”`, `A step of "${name}" names the unknown group "${group}"`);
    }
  }
}
